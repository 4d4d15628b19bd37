//! What is known of a claim in this process, shared by its owner, its work and the keeper.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use semel_core::protocol::{Lease, Seen};
use semel_core::{Claim, Outcome, Ttl, Version};
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
    part: Mutex<Option<(Version, Outcome)>>,
    end: AtomicU8,
    told: Notify,
}

/// Not ended, or how: lost for one of the reasons, or finished by its owner.
const HELD: u8 = 0;
const EXPIRED: u8 = 1;
const TAKEN: u8 = 2;
const FINISHED: u8 = 3;

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
            part: Mutex::new(None),
            end: AtomicU8::new(HELD),
            told: Notify::new(),
        }
    }

    /// The version of the entry when it was claimed or last renewed.
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

    /// What is presumed of the key: that the claim is there as it was made or last renewed. If that
    /// is old, the store tells. But a version that is not of such a write, or was not written like
    /// that, would let us overwrite what others wrote, or our own outcome.
    pub(crate) fn presumed(&self) -> Seen {
        Seen::presumed_held(self.claim.clone(), self.version())
    }

    /// A part of its outcome was recorded, at this version.
    pub(crate) fn recorded_in_part(&self, version: Version, part: Outcome) {
        *self.part.lock() = Some((version, part));
    }

    /// What is presumed where the whole outcome is to be recorded: that the part of it is there, if
    /// there was one.
    pub(crate) fn presumed_in_part(&self) -> Seen {
        match self.part.lock().take() {
            Some((version, part)) => Seen::presumed_done(self.claim.clone(), part, version),
            None => self.presumed(),
        }
    }

    /// What is left of the lease by our own clock, counted from before it was asked for.
    pub(crate) fn remaining(&self) -> Duration {
        if self.end() != HELD {
            return Duration::ZERO;
        }
        (self.granted() + self.lease.length).saturating_sub(self.since_asked())
    }

    pub(crate) fn lose(&self, reason: LossReason) {
        let end = match reason {
            LossReason::Expired => EXPIRED,
            LossReason::Taken => TAKEN,
        };
        if self.end_as(end) {
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

    /// Its owner has said how it ended: it can't be lost any more.
    pub(crate) fn finish(&self) {
        self.end_as(FINISHED);
    }

    pub(crate) fn loss(&self) -> Option<LossReason> {
        match self.end() {
            EXPIRED => Some(LossReason::Expired),
            TAKEN => Some(LossReason::Taken),
            _ => None,
        }
    }

    /// Ends when the claim is lost: told by the keeper, or by our own clock without any answer.
    /// Never ends once the claim is finished.
    pub(crate) async fn until_lost(&self) -> LossReason {
        loop {
            // Made before the look, so that what happens in between is not missed.
            let told = self.told.notified();
            if let Some(reason) = self.loss() {
                return reason;
            }
            if self.end() == FINISHED {
                std::future::pending::<()>().await;
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

    fn end(&self) -> u8 {
        self.end.load(Ordering::Acquire)
    }

    /// The first end is the one; whether it is this.
    fn end_as(&self, end: u8) -> bool {
        self.end.compare_exchange(HELD, end, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}
