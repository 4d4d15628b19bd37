//! Work under a lock.

use std::fmt::Debug;
use std::time::Duration;

use semel_core::protocol::lock::ForceHow;

use super::error::LockError;
use super::guard::LockGuard;
use super::locks::Locks;
use super::lost::LockLoss;
use super::release::ReleaseOutcome;

/// Why work under a lock is no plain success.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError<T> {
    /// The lock was not got, and the work did not run.
    #[error(transparent)]
    Lock(LockError),
    /// The lock was lost before the work ended: others may have worked on the same at the same
    /// time.
    #[error("the lock was lost before its work ended: {loss}")]
    Lost {
        /// What the work came to.
        result: T,
        /// Why the lock was lost.
        loss: LockLoss,
    },
}

impl<T> From<LockError> for ScopeError<T> {
    fn from(error: LockError) -> Self {
        Self::Lock(error)
    }
}

impl Locks {
    /// Takes a lock, does `work` under it, and releases it: [`LockBuilder::with`] without waiting.
    ///
    /// # Errors
    ///
    /// As [`LockBuilder::with`].
    ///
    /// # Panics
    ///
    /// As [`LockBuilder::with`].
    ///
    /// # Cancel safety
    ///
    /// As [`LockBuilder::with`].
    ///
    /// [`LockBuilder::with`]: crate::LockBuilder::with
    pub async fn with<T, W>(
        &self,
        resource: &str,
        ttl: Duration,
        work: W,
    ) -> Result<T, ScopeError<T>>
    where
        W: AsyncFnOnce(&LockGuard) -> T,
    {
        self.lock(resource).ttl(ttl).with(work).await
    }
}

pub(super) async fn scoped<T, W>(guard: LockGuard, work: W) -> Result<T, ScopeError<T>>
where
    W: AsyncFnOnce(&LockGuard) -> T,
{
    let result = work(&guard).await;
    // Judged before the release, which takes time of its own.
    if let Some(loss) = guard.loss() {
        return Err(ScopeError::Lost { result, loss });
    }
    let loss = match guard.release().await {
        Ok(ReleaseOutcome::Expired) => LockLoss::Expired,
        Ok(ReleaseOutcome::TakenByOther) => LockLoss::Taken,
        Ok(ReleaseOutcome::StoreReset) => LockLoss::StoreReset,
        Ok(ReleaseOutcome::ForceReleased { by, reason }) => {
            LockLoss::ForceReleased { by, reason, how: ForceHow::AtOnce }
        }
        // The work released it itself.
        Ok(ReleaseOutcome::Released | ReleaseOutcome::AlreadyReleased) => return Ok(result),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "a lock could not be released yet");
            return Ok(result);
        }
    };
    Err(ScopeError::Lost { result, loss })
}
