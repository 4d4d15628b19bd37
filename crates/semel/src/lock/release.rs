//! Giving a lock back, and holding it longer.

use std::pin::pin;
use std::time::Duration;

use semel_core::Owner;
use semel_core::lock::Reason;
use semel_core::protocol::lock::{Ending, Lost, Release, Released};
use semel_core::{StoreError, StoreErrorKind, Ttl};

use super::drive::{Start, drive};
use super::error::{LockError, LockSettingError};
use super::guard::LockGuard;
use super::held::Held;
use super::lost::LockLoss;
use super::renew::{Asked, ask};
use super::terms::{counted, named};
use crate::drive::{PATIENCE, in_time};
use crate::timer;

/// What releasing a lock came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReleaseOutcome {
    /// It was ours until now, and is given back.
    Released,
    /// It was given back before.
    AlreadyReleased,
    /// Its lease had ended. Nothing of what others hold was changed.
    Expired,
    /// Others had come. Nothing of what they hold was changed.
    TakenByOther,
    /// An operator had released it by force and at once: somebody else may have had it since. Who
    /// was told to stop and stops has released it.
    ForceReleased {
        /// Who did.
        by: Owner,
        /// Why.
        reason: Reason,
    },
    /// The store had no entry of it although the lease should still have run.
    StoreReset,
}

impl ReleaseOutcome {
    /// Whether the lock was held up to this release.
    #[must_use]
    pub const fn released(&self) -> bool {
        matches!(self, Self::Released)
    }
}

/// What extending a lock came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extended {
    /// It is held for this much longer at least, as this process counts it.
    Extended {
        /// What is left now.
        remaining: Duration,
    },
    /// It is not ours any more.
    Lost(LockLoss),
}

impl LockGuard {
    /// Gives the lock back. One round trip where nobody else wants it.
    ///
    /// Released once: a second call says [`ReleaseOutcome::AlreadyReleased`], and after the lease
    /// ended nothing of what others hold is touched. It is renewed no more from the first call on.
    ///
    /// # Errors
    ///
    /// [`LockError::Indeterminate`] when the reply was lost, [`LockError::Unavailable`] when the
    /// store can't be reached within five seconds: call it again, and it says the truth. A guard
    /// that is dropped instead goes on trying in the background, for one lease.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, the lock may have been released or not. The guard is as it was.
    pub async fn release(&self) -> Result<ReleaseOutcome, LockError> {
        self.leave_keeper();
        let held = &*self.held;
        // A renewal that is under way ends first: it must not be the one that changes the entry.
        let _turn = held.turn.lock().await;
        if held.is_settled() {
            return Ok(ReleaseOutcome::AlreadyReleased);
        }
        let release = Release { token: held.token, ending: Ending::Used };
        // What the store's clock has to judge takes a look: whether the lease or the least time of
        // holding is over.
        let in_doubt = held.remaining().is_zero() || held.is_release_unknown();
        let start =
            if in_doubt || !held.terms.min_hold.is_zero() { Start::Look } else { held.start() };
        // From here on a write may be under way, even if nobody waits for its reply.
        let again = held.is_release_unknown();
        held.release_is_unknown();
        let driven =
            match in_time(pin!(drive(&*self.locks.0.store, &held.at, &release, start))).await {
                Ok(driven) => driven,
                Err(error) => {
                    if error.kind() != StoreErrorKind::Unknown && !again {
                        held.release_is_known();
                    }
                    return Err(LockError::of(error));
                }
            };
        let applied_before = again || driven.lost_reply;
        let outcome = told(driven.answer, held, applied_before);
        held.settle();
        Ok(outcome)
    }

    /// Holds the lock for `ttl` from now on at least. It is never made shorter: where more is left,
    /// nothing is asked of the store.
    ///
    /// A lock that is renewed goes on being renewed by its own `ttl` after that.
    ///
    /// # Errors
    ///
    /// [`LockError::Setting`] for a `ttl` of zero, or beyond `max_hold`; else the store's, and then
    /// the lease is what it was, as far as this process may count on it.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, the lease may have been extended or not.
    pub async fn extend(&self, ttl: Duration) -> Result<Extended, LockError> {
        let lease = named("ttl", Ttl::positive(ttl))?;
        let held = &*self.held;
        let _turn = held.turn.lock().await;
        if let Some(why) = held.loss() {
            return Ok(Extended::Lost(why));
        }
        if held.is_settled() {
            // Released is over, too.
            return Ok(Extended::Lost(LockLoss::Expired));
        }
        if let Some(max_hold) = held.terms.max_hold
            && held.asked.elapsed().saturating_add(counted(ttl)) > max_hold
        {
            return Err(LockSettingError::BeyondMaxHold { max_hold }.into());
        }
        let remaining = held.remaining();
        if remaining >= counted(ttl) {
            return Ok(Extended::Extended { remaining });
        }
        // A renewal waits for this to end: where there is one, it is to come in time.
        let limit = if held.terms.renewed { held.lease.length / 4 } else { PATIENCE };
        let asked = timer::within(limit.min(PATIENCE), ask(&*self.locks.0.store, held, lease));
        let late = || StoreError::unknown(format!("no answer within {limit:?}"));
        match asked.await.unwrap_or_else(|| Err(late())) {
            Ok(Asked::Renewed(_)) => Ok(Extended::Extended { remaining: held.remaining() }),
            Ok(Asked::Lost(why)) => {
                self.leave_keeper();
                held.lose(why.clone());
                Ok(Extended::Lost(why))
            }
            Err(error) => Err(LockError::of(error)),
        }
    }
}

/// What the store's answer means to the holder. `applied_before`: an earlier try may have been
/// applied, so that nothing is found of it now.
fn told(released: Released, held: &Held, applied_before: bool) -> ReleaseOutcome {
    let lapsed = || held.asked.elapsed() >= held.deadline();
    match released {
        Released::Released { .. } => ReleaseOutcome::Released,
        Released::Already => {
            if applied_before {
                ReleaseOutcome::Released
            } else {
                ReleaseOutcome::AlreadyReleased
            }
        }
        Released::Lapsed => ReleaseOutcome::Expired,
        Released::NotHeld(Lost::Forced { note, .. }) => {
            ReleaseOutcome::ForceReleased { by: note.by, reason: note.reason }
        }
        Released::NotHeld(_) if applied_before && !lapsed() => ReleaseOutcome::Released,
        Released::NotHeld(Lost::Superseded) => ReleaseOutcome::TakenByOther,
        Released::NotHeld(Lost::Gone) if lapsed() => ReleaseOutcome::Expired,
        Released::NotHeld(Lost::Gone) => ReleaseOutcome::StoreReset,
        Released::NotHeld(Lost::Released) => ReleaseOutcome::AlreadyReleased,
    }
}
