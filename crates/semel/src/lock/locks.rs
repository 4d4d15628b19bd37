//! The engine of locks: one store, its renewals and its waiters.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use semel_core::lock::{Permits, Want};
use semel_core::{Owner, Store};
use tokio_util::sync::CancellationToken;

use super::acquire::{AcquiredWithin, TryAcquired};
use super::builder::LockBuilder;
use super::error::LockError;
use super::guard::LockGuard;
use super::held::Held;
use super::queue::Queues;
use super::reaper::Reaper;
use super::terms::Wishes;
use crate::keeper::Keeper;
use crate::{owner, timer};

/// Lease locks over one store.
///
/// A clone is a second handle to the same engine. One engine a process and store is enough, and
/// best: its locks share renewals and watches. It needs a tokio runtime from the first call on.
///
/// Locks are not re-entrant: whoever holds one and asks again finds it held.
#[derive(Debug, Clone)]
pub struct Locks(pub(super) Arc<Engine>);

#[derive(Debug)]
pub(super) struct Engine {
    pub(super) store: Arc<dyn Store>,
    pub(super) owner: Owner,
    pub(super) keeper: Arc<Keeper<Held>>,
    pub(super) queues: Arc<Queues>,
    pub(super) reaper: Reaper,
    pub(super) closed: CancellationToken,
    /// How many guards there are.
    pub(super) count: AtomicUsize,
}

/// How shutting down ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocksShutdown {
    /// How many guards there still are. Their work may be running, so they are not released: the
    /// locks are free when their leases end, or when the guards are dropped.
    pub still_held: usize,
    /// How many releases were still under way when the time was up.
    pub pending: usize,
}

impl Locks {
    /// An engine over this store; its owner label names this host and process.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::with_owner(store, owner::this_process())
    }

    /// An engine whose locks say that they are held by this owner.
    #[must_use]
    pub fn with_owner(store: Arc<dyn Store>, owner: Owner) -> Self {
        Self(Arc::new(Engine {
            keeper: Keeper::new(Arc::clone(&store)),
            queues: Queues::new(Arc::clone(&store)),
            reaper: Reaper::new(Arc::clone(&store)),
            closed: CancellationToken::new(),
            count: AtomicUsize::new(0),
            owner,
            store,
        }))
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

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

    /// How many guards of this engine there are now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.0.count.load(Ordering::Relaxed)
    }

    /// How many locks are renewed by this engine now.
    #[must_use]
    pub fn renewed(&self) -> usize {
        self.0.keeper.kept()
    }

    /// How many locks are waited for in this engine now.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.0.queues.watched()
    }

    /// How many releases are under way in the background.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.0.reaper.pending()
    }

    /// Ends the engine: who waits is told [`LockError::Cancelled`], and nothing is acquired any
    /// more; what is being given back in the background is waited for, at most for `limit`.
    ///
    /// Drop or release the guards first. Call it before the store is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the engine is closed all the same, and what is given back goes on.
    pub async fn shutdown(&self, limit: Duration) -> LocksShutdown {
        self.0.closed.cancel();
        timer::within(limit, self.0.reaper.flushed()).await;
        LocksShutdown { still_held: self.held(), pending: self.pending() }
    }
}
