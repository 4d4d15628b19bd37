//! What is known of a claim in this process, shared by its owner, its work and the keeper.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use semel_core::protocol::Lease;
use semel_core::{Claim, Ttl, Version};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::drive::Address;
use crate::timer;

/// A claim, and its lease as this process knows it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) at: Address,
    pub(crate) claim: Claim,
    pub(crate) fence: Version,
    pub(crate) lease: Lease,
    pub(crate) length: Ttl,
    pub(crate) keep: Ttl,
    /// When the claim was asked for: all durations here count from it.
    pub(crate) asked: Instant,
    version: AtomicU64,
    granted_micros: AtomicU64,
    lost: AtomicU8,
    told: Notify,
}

/// Why a claim is not ours any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossReason {
    /// Its lease ended: it could not be renewed, or it had been for as long as the policy allows.
    Expired,
    /// Somebody took it over, resolved it or removed it.
    Taken,
}

impl Held {
    pub(crate) fn new(
        at: Address,
        claim: Claim,
        fence: Version,
        lease: (Ttl, Duration),
        keep: Ttl,
        asked: Instant,
    ) -> Self {
        let (length, cap) = lease;
        Self {
            at,
            claim,
            fence,
            lease: Lease { length: length.as_duration(), cap },
            length,
            keep,
            asked,
            version: AtomicU64::new(fence.get()),
            granted_micros: AtomicU64::new(0),
            lost: AtomicU8::new(0),
            told: Notify::new(),
        }
    }

    /// The version of the entry as far as we know.
    pub(crate) fn version(&self) -> Version {
        Version::new(self.version.load(Ordering::Acquire))
    }

    pub(crate) fn since_asked(&self) -> Duration {
        timer::now() - self.asked
    }

    /// When the present lease was asked for.
    pub(crate) fn granted(&self) -> Duration {
        Duration::from_micros(self.granted_micros.load(Ordering::Acquire))
    }

    /// A renewal that was sent at `sent` was granted.
    pub(crate) fn renewed(&self, sent: Duration, version: Option<Version>) {
        let micros = u64::try_from(sent.as_micros()).unwrap_or(u64::MAX);
        self.granted_micros.fetch_max(micros, Ordering::AcqRel);
        if let Some(version) = version {
            self.version.fetch_max(version.get(), Ordering::AcqRel);
        }
    }

    /// What is left of the lease by our own clock, counted from before it was asked for.
    pub(crate) fn remaining(&self) -> Duration {
        if self.loss().is_some() {
            return Duration::ZERO;
        }
        (self.granted() + self.lease.length).saturating_sub(self.since_asked())
    }

    pub(crate) fn lose(&self, reason: LossReason) {
        let number = match reason {
            LossReason::Expired => 1,
            LossReason::Taken => 2,
        };
        if self.lost.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            metrics::counter!("semel_claims_lost_total").increment(1);
            tracing::warn!(
                key = %self.at.digest,
                operation = %self.claim.operation,
                ?reason,
                "a claim was lost while its work was running"
            );
        }
        self.told.notify_waiters();
    }

    pub(crate) fn loss(&self) -> Option<LossReason> {
        match self.lost.load(Ordering::Acquire) {
            0 => None,
            1 => Some(LossReason::Expired),
            _ => Some(LossReason::Taken),
        }
    }

    /// Ends when the claim is lost: told by the keeper, or by our own clock without any answer.
    pub(crate) async fn until_lost(&self) -> LossReason {
        loop {
            // Made before the look, so that what happens in between is not missed.
            let told = self.told.notified();
            if let Some(reason) = self.loss() {
                return reason;
            }
            let left = self.remaining();
            if left.is_zero() {
                self.lose(LossReason::Expired);
                continue;
            }
            tokio::select! {
                () = told => {}
                () = timer::sleep(left) => {}
            }
        }
    }
}
