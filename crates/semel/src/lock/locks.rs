//! The engine of locks: one store, its renewals and its waiters.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use semel_core::{Owner, Store};
use tokio_util::sync::CancellationToken;

use super::held::Held;
use super::queue::Queues;
use super::reaper::Reaper;
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

    /// Ends the engine: who waits is told [`Cancelled`](crate::LockError::Cancelled), and nothing is
    /// acquired any more; what is being given back in the background is waited for, at most for
    /// `limit`.
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
