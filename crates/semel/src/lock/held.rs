//! What is known of a lock in this process, shared by its guard, its work and the keeper.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use semel_core::lock::LockEntry;
use semel_core::protocol::Lease;
use semel_core::protocol::LeaseStep;
use semel_core::protocol::lock::LockSeen;
use semel_core::{Fence, Token, Ttl, Version};
use tokio::sync::Notify;

use super::drive::{Driven, Start};
use super::lost::LockLoss;
use super::terms::{Terms, counted};
use crate::drive::Address;
use crate::timer::{self, Moment};

/// How long one sleeps at most before one looks whether the machine was suspended meanwhile.
const NAP: Duration = Duration::from_secs(1);

/// A lock, and its lease as this process knows it.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) at: Address,
    pub(super) resource: Arc<str>,
    pub(super) token: Token,
    pub(super) fence: Fence,
    pub(super) terms: Terms,
    /// When it was asked for: all durations here count from it.
    pub(super) asked: Moment,
    /// The lease as it is counted here: shorter than the store's.
    pub(super) lease: Lease,
    /// Writes of the holder follow each other: what is believed of the lease is what the last of
    /// them was granted.
    pub(super) turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    end: OnceLock<End>,
    told: Notify,
}

#[derive(Debug)]
struct State {
    /// When the lease ends, as it is counted here.
    deadline: Duration,
    /// What this holder wrote last, and the version of that.
    wrote: Option<(LockEntry, Version)>,
    /// It ends because it is not to be held for longer.
    capped: bool,
    /// The last renewal was refused.
    refused: bool,
    /// The reply to a release was lost.
    release_unknown: bool,
    /// It is given back, or handed on: there is nothing left to do about it.
    settled: bool,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Lost(LockLoss),
    /// Its holder released it, or handed it on.
    Released,
}

/// What a grant is made of.
pub(super) struct Granted {
    pub(super) fence: Fence,
    pub(super) left: Ttl,
    pub(super) asked: Moment,
    pub(super) wrote: Option<(LockEntry, Version)>,
}

impl Granted {
    /// The grant that a driven ask brought; none if the store gave it no version.
    pub(super) fn of<A>(driven: Driven<A>, fence: Option<Fence>, left: Ttl) -> Option<Self> {
        let fence = fence.or(driven.version.map(Fence::from))?;
        let wrote = driven.written.zip(driven.version);
        Some(Self { fence, left, asked: driven.asked, wrote })
    }
}

impl Held {
    pub(super) fn new(
        (at, resource): (Address, Arc<str>),
        token: Token,
        terms: Terms,
        granted: Granted,
    ) -> Self {
        let lease = Lease {
            length: counted(terms.ttl.as_duration()),
            cap: terms.max_hold.unwrap_or(Duration::MAX),
        };
        let capped = terms.renewed && is_end(lease.after_grant(Duration::ZERO));
        let state = State {
            deadline: counted(granted.left.as_duration()),
            wrote: granted.wrote,
            capped,
            refused: false,
            release_unknown: false,
            settled: false,
        };
        Self {
            at,
            resource,
            token,
            fence: granted.fence,
            terms,
            asked: granted.asked,
            lease,
            turn: tokio::sync::Mutex::default(),
            state: Mutex::new(state),
            end: OnceLock::new(),
            told: Notify::new(),
        }
    }

    /// Where a write of the holder begins: with what it wrote last, where that says enough.
    pub(super) fn start(&self) -> Start {
        let state = self.state.lock();
        let presumed = state.wrote.as_ref();
        presumed
            .and_then(|(entry, version)| LockSeen::presumed_held(entry, *version))
            .map_or(Start::Look, Start::Presumed)
    }

    /// The lease was granted anew for so long, by a write that was sent then. Gives what comes next.
    pub(super) fn renewed<A>(&self, driven: Driven<A>, lease: Ttl) -> LeaseStep {
        let sent = driven.asked.since(self.asked);
        let deadline = sent + counted(lease.as_duration());
        // As if it had been granted when a lease of the usual length would have to be.
        let step = self.lease.after_grant(deadline.saturating_sub(self.lease.length));
        let mut state = self.state.lock();
        state.deadline = deadline;
        state.wrote = driven.written.zip(driven.version);
        state.capped = is_end(step);
        state.refused = false;
        step
    }

    /// A renewal failed. Gives what comes next.
    pub(super) fn not_renewed(&self, refused: bool) -> LeaseStep {
        let mut state = self.state.lock();
        state.refused = refused;
        let granted = state.deadline.saturating_sub(self.lease.length);
        self.lease.after_failure(granted, self.asked.elapsed())
    }

    /// A release may have been applied or not.
    pub(super) fn release_is_unknown(&self) {
        self.state.lock().release_unknown = true;
    }

    /// It was not.
    pub(super) fn release_is_known(&self) {
        self.state.lock().release_unknown = false;
    }

    pub(super) fn is_release_unknown(&self) -> bool {
        self.state.lock().release_unknown
    }

    /// When the lease ends, as it is counted here.
    pub(super) fn deadline(&self) -> Duration {
        self.state.lock().deadline
    }

    /// What is left of the lease by our own clock, counted from before it was asked for.
    pub(super) fn remaining(&self) -> Duration {
        if self.end.get().is_some() {
            return Duration::ZERO;
        }
        self.deadline().saturating_sub(self.asked.elapsed())
    }

    pub(super) fn lose(&self, why: LockLoss) {
        let word = why.word();
        if self.end.set(End::Lost(why)).is_ok() {
            metrics::counter!("semel_locks_lost_total", "reason" => word).increment(1);
            let (lock, fence) = (self.at.digest, self.fence.get());
            tracing::warn!(%lock, fence, reason = word, "a lock was lost while it was held");
        }
        self.told.notify_waiters();
    }

    /// The lease has ended by our own clock.
    pub(super) fn lapse(&self) {
        self.lose(self.lapsed());
    }

    fn lapsed(&self) -> LockLoss {
        let state = self.state.lock();
        match (state.refused, state.capped) {
            (true, _) => LockLoss::RenewalRefused,
            (false, true) => LockLoss::MaxHold,
            (false, false) => LockLoss::Expired,
        }
    }

    /// It is given back, or handed on: it can't be lost any more.
    pub(super) fn settle(&self) {
        self.state.lock().settled = true;
        // Lost before is lost: that was told already.
        let _ = self.end.set(End::Released);
    }

    /// Whether there is nothing left to lose.
    pub(super) fn is_over(&self) -> bool {
        self.end.get().is_some() || self.is_settled()
    }

    /// The version of the holder's own last write.
    pub(super) fn wrote_at(&self) -> Option<Version> {
        self.state.lock().wrote.as_ref().map(|(_, version)| *version)
    }

    pub(super) fn is_settled(&self) -> bool {
        self.state.lock().settled
    }

    /// Why it is lost, if it is: judged by our own clock here and now.
    pub(super) fn loss(&self) -> Option<LockLoss> {
        if self.end.get().is_none() && self.remaining().is_zero() {
            self.lapse();
        }
        match self.end.get() {
            Some(End::Lost(why)) => Some(why.clone()),
            Some(End::Released) | None => None,
        }
    }

    /// Ends when the lock is lost: told by the keeper, or by our own clock without any answer.
    /// Never ends once it is released.
    pub(super) async fn until_lost(&self) -> LockLoss {
        loop {
            // Made before the look, so that what happens in between is not missed.
            let told = self.told.notified();
            if let Some(why) = self.loss() {
                return why;
            }
            if self.end.get().is_some() {
                std::future::pending::<()>().await;
            }
            let nap = self.remaining().min(NAP);
            tokio::select! {
                () = told => {}
                () = timer::sleep(nap) => {}
            }
        }
    }
}

const fn is_end(step: LeaseStep) -> bool {
    matches!(step, LeaseStep::EndsAt(_))
}
