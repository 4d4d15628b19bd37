//! Releasing a lock by force.

use std::pin::pin;

use semel_core::lock::Reason;
use semel_core::protocol::lock::{Force, ForceHow, ForceTarget, Forced};
use semel_core::{Key, Owner};

use super::drive::{Start, drive};
use super::error::LockError;
use super::locks::Locks;
use crate::drive::{Address, in_time};

impl Locks {
    /// Takes a lock from whoever holds it.
    ///
    /// With [`ForceHow::Revoke`] the holder can't renew any more, and learns it within a second or
    /// two where the store tells of changes, else at its next renewal: its loss is
    /// [`ForceReleased`](crate::LockLoss::ForceReleased). Others get the lock when its guard is
    /// released or dropped, or when its lease ends: there are never two holders.
    /// With [`ForceHow::AtOnce`] the lock is free now, for a holder that is known to be dead. One
    /// that is not is told the same way, and that it was at once, as long as its lease would have
    /// run; the store remembers the last sixteen for each lock.
    ///
    /// [`ForceTarget::Fence`] takes it only from the holder that was looked at. Whoever asks twice
    /// changes nothing the second time. An event of level `warn` with target `semel::audit` says
    /// what was done to which resource, by whom and why.
    ///
    /// # Errors
    ///
    /// [`LockError::Resource`], or the store's. After [`LockError::Indeterminate`] it may have been
    /// done: look, or ask again.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been done or not.
    pub async fn force_release(
        &self,
        resource: &str,
        target: ForceTarget,
        how: ForceHow,
        (by, reason): (&Owner, &Reason),
    ) -> Result<Forced, LockError> {
        let at = Address::of(Key::lock(resource).map_err(LockError::Resource)?);
        let force = Force { target, how, by: by.clone(), reason: reason.clone() };
        let driven = in_time(pin!(drive(&*self.0.store, &at, &force, Start::Look))).await;
        let forced = driven.map_err(LockError::of)?.answer;
        if let Forced::Forced(holders) = &forced {
            for holder in holders {
                tracing::warn!(
                    target: "semel::audit",
                    resource,
                    lock = %at.digest,
                    fence = holder.fence.map(semel_core::Fence::get),
                    holder = holder.owner.as_ref().map(Owner::as_str),
                    by = by.as_str(),
                    reason = reason.as_str(),
                    ?how,
                    "a lock was released by force"
                );
            }
        }
        Ok(forced)
    }
}
