//! Where acquiring a lock begins.

use std::time::Duration;

use semel_core::lock::{Permits, Want};

use super::acquire::{AcquiredWithin, TryAcquired};
use super::builder::LockBuilder;
use super::error::LockError;
use super::guard::LockGuard;
use super::locks::Locks;
use super::terms::Wishes;

impl Locks {
    /// Takes a lock if it is free: one round trip, fence included. "Held" is a value, and says by
    /// whom. It does not wait, and takes a lock that is free at the moment past those who wait for
    /// it.
    ///
    /// The lock is held for `ttl` and not renewed: see [`Locks::lock`] for more.
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
    /// Dropped at its await, what may have been acquired is given back in the background; at worst,
    /// if the store fails too, the lock is blocked for one `ttl`.
    pub async fn try_acquire(
        &self,
        resource: &str,
        ttl: Duration,
    ) -> Result<TryAcquired, LockError> {
        self.lock(resource).ttl(ttl).try_acquire().await
    }

    /// As [`Locks::try_acquire`], for callers to whom a lock that is held is an error.
    ///
    /// # Errors
    ///
    /// [`LockError::Held`] (`CACHING_CONFLICT_001`) when others have it, or any other [`LockError`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Locks::try_acquire`].
    pub async fn acquire(&self, resource: &str, ttl: Duration) -> Result<LockGuard, LockError> {
        self.lock(resource).ttl(ttl).acquire().await
    }

    /// Takes a lock, or waits for its turn for at most `budget`: in order of arrival among those
    /// who wait and are alive. There is no most for `budget`.
    ///
    /// Waiters are woken by the store's hints, and look at least once a second; a waiter whose
    /// process died holds up those behind it for three seconds at most. It holds no connection.
    ///
    /// # Errors
    ///
    /// [`LockError`], never for a lock that is held. A store that can't be reached while one waits
    /// is waited for as well; if it still is not when the time is up, that is
    /// [`LockError::Unavailable`] or [`LockError::Indeterminate`], not
    /// [`AcquiredWithin::TimedOut`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, its place in the queue and what it may have acquired are given back in
    /// the background; at worst, if the store fails too, the place ends after three seconds and the
    /// lock after one `ttl`.
    pub async fn acquire_within(
        &self,
        resource: &str,
        ttl: Duration,
        budget: Duration,
    ) -> Result<AcquiredWithin, LockError> {
        self.lock(resource).ttl(ttl).acquire_within(budget).await
    }

    /// A lock of one holder, to be set up.
    pub fn lock(&self, resource: &str) -> LockBuilder {
        self.wanted(resource, Want::mutex())
    }

    /// One of so many permits, to be set up. All askers should name the same number; each goes by
    /// its own.
    pub fn semaphore(&self, resource: &str, permits: Permits) -> LockBuilder {
        self.wanted(resource, Want::permit(permits))
    }

    /// A lock for reading, to be set up: many hold it at once, and nobody writes meanwhile. Readers
    /// that come while a writer waits come after it.
    pub fn read(&self, resource: &str) -> LockBuilder {
        self.wanted(resource, Want::read())
    }

    /// A lock for writing, to be set up: nobody else reads or writes.
    pub fn write(&self, resource: &str) -> LockBuilder {
        self.wanted(resource, Want::write())
    }

    fn wanted(&self, resource: &str, want: Want) -> LockBuilder {
        LockBuilder::new(self, resource, want, Wishes::of(self.0.owner.clone()))
    }
}
