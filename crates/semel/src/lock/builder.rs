//! Setting up an acquisition.

use std::sync::Arc;
use std::time::Duration;

use semel_core::Owner;
use semel_core::lock::Want;

use super::acquire::{AcquiredWithin, TryAcquired};
use super::error::LockError;
use super::guard::LockGuard;
use super::locks::Locks;
use super::request::Request;
use super::scope::{ScopeError, scoped};
use super::terms::Wishes;

/// An acquisition that is being set up: nothing is asked of the store before one of
/// [`try_acquire`](Self::try_acquire), [`acquire`](Self::acquire),
/// [`acquire_within`](Self::acquire_within) and [`with`](Self::with). It may be used again: each use
/// is an acquisition of its own.
#[derive(Debug, Clone)]
#[must_use = "nothing is acquired before one of `acquire`, `try_acquire` and `with`"]
pub struct LockBuilder {
    locks: Locks,
    resource: Arc<str>,
    want: Want,
    wishes: Wishes,
    wait: Duration,
}

impl LockBuilder {
    pub(super) fn new(locks: &Locks, resource: &str, want: Want, wishes: Wishes) -> Self {
        let (locks, resource) = (locks.clone(), resource.into());
        Self { locks, resource, want, wishes, wait: Duration::ZERO }
    }

    /// How long the lock is held, unless it is renewed: how long others are blocked when this
    /// process dies. Default: 10 s.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.wishes.ttl = ttl;
        self
    }

    /// Renews the lock at a third of `ttl` as long as its guard lives. Default: the lease is what
    /// was asked for, and no more.
    pub fn renewed(mut self) -> Self {
        self.wishes.renewed = true;
        self
    }

    /// Stops renewing so that the lock is held no longer than this; its loss is then
    /// [`LockLoss::MaxHold`](crate::LockLoss::MaxHold). At least `ttl`. Default: no end.
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.wishes.max_hold = Some(max_hold);
        self
    }

    /// Gives the lock to nobody else before it was held for this long, even if it is released or
    /// its holder dies: for short jobs that several machines start by clocks that differ. Default:
    /// zero.
    pub fn min_hold(mut self, min_hold: Duration) -> Self {
        self.wishes.min_hold = min_hold;
        self
    }

    /// Gives the lock to nobody else for this long after its lease ended without a release: time
    /// for what the holder had sent before it died. Default: zero.
    pub fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.wishes.lock_delay = lock_delay;
        self
    }

    /// Who holds it, as others are told: host and process, or free text. Default: this host and
    /// process.
    pub fn owner(mut self, owner: Owner) -> Self {
        self.wishes.owner = owner;
        self
    }

    /// How long [`acquire`](Self::acquire) and [`with`](Self::with) wait for their turn. Default:
    /// not at all.
    pub fn wait(mut self, budget: Duration) -> Self {
        self.wait = budget;
        self
    }

    /// Takes the lock if it is free; see [`Locks::try_acquire`]. It never waits.
    ///
    /// # Errors
    ///
    /// [`LockError`], never for a lock that is held.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Locks::try_acquire`].
    pub async fn try_acquire(&self) -> Result<TryAcquired, LockError> {
        self.request()?.try_acquire().await
    }

    /// Takes the lock, or waits for at most `budget`; see [`Locks::acquire_within`].
    ///
    /// # Errors
    ///
    /// As [`Locks::acquire_within`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Locks::acquire_within`].
    pub async fn acquire_within(&self, budget: Duration) -> Result<AcquiredWithin, LockError> {
        self.request()?.acquire_within(budget).await
    }

    /// Takes the lock, waiting as [`wait`](Self::wait) says; a lock that is held is an error.
    ///
    /// # Errors
    ///
    /// [`LockError::Held`], or [`LockError::TimedOut`] where it waited; else as the other two.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Locks::acquire_within`].
    pub async fn acquire(&self) -> Result<LockGuard, LockError> {
        if self.wait.is_zero() {
            return match self.try_acquire().await? {
                TryAcquired::Acquired(guard) => Ok(guard),
                TryAcquired::Held(by) => Err(LockError::Held(by)),
            };
        }
        match self.acquire_within(self.wait).await? {
            AcquiredWithin::Acquired(guard) => Ok(guard),
            AcquiredWithin::TimedOut(by) => Err(LockError::TimedOut(by)),
        }
    }

    /// Does `work` under the lock and releases it afterwards.
    ///
    /// The work is not cut off when the lock is lost: race it against
    /// [`LockGuard::lost`], as its resource may be somebody else's from then on. That the release
    /// fails never hides what the work came to; it is tried again in the background.
    ///
    /// # Errors
    ///
    /// [`ScopeError::Lock`] when the lock was not got, and the work did not run.
    /// [`ScopeError::Lost`], with the work's result, when it was lost before the work ended.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and where the work panics: the lock is released then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the work is cut off and the lock released in the background.
    pub async fn with<T, W>(&self, work: W) -> Result<T, ScopeError<T>>
    where
        W: AsyncFnOnce(&LockGuard) -> T,
    {
        let guard = self.acquire().await.map_err(ScopeError::Lock)?;
        scoped(guard, work).await
    }

    pub(super) fn request(&self) -> Result<Request, LockError> {
        Request::new(&self.locks, &self.resource, self.want, &self.wishes)
    }
}
