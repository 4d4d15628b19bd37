//! The guard: the lock as its holder has it.

use std::sync::Arc;
use std::time::Duration;

use semel_core::{Fence, Owner, Token};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::held::Held;
use super::locks::Locks;
use super::lost::LockLoss;
use super::reaper::Left;
use super::sentinel;
use super::ticket::LockTicket;
use crate::keeper::Place;

/// A lock that is held.
///
/// Dropped, it is released in the background, as well as it goes: [`Locks::shutdown`] waits for
/// that. Where the store does not take it, the lock is free when its lease ends.
///
/// That a guard exists does not prove that the lock is held: leases end. [`LockGuard::lost`] says
/// when, and [`LockGuard::fence`] is what the resource itself can check.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct LockGuard {
    pub(super) locks: Locks,
    pub(super) held: Arc<Held>,
    runtime: Handle,
    kept: parking_lot::Mutex<Option<Kept>>,
}

/// What is done for a lock that is renewed.
#[derive(Debug)]
struct Kept {
    place: Place,
    sentinel: AbortHandle,
}

impl LockGuard {
    pub(super) fn new(locks: &Locks, held: Held, runtime: &Handle) -> Self {
        let held = Arc::new(held);
        let kept = held.terms.renewed.then(|| {
            let place = locks.0.keeper.enter(&held, runtime);
            let sentinel = sentinel::watch(&locks.0.keeper, place, &held, runtime);
            Kept { place, sentinel }
        });
        locks.0.count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        metrics::counter!("semel_locks_acquired_total").increment(1);
        tracing::debug!(lock = %held.at.digest, fence = held.fence.get(), "acquired");
        Self { locks: locks.clone(), held, runtime: runtime.clone(), kept: kept.into() }
    }

    /// The resource, as its caller named it.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.held.resource
    }

    /// What proves that the lock is ours: 128 random bits, fresh for each acquisition. A secret
    /// among those who hold it.
    #[must_use]
    pub fn token(&self) -> Token {
        self.held.token
    }

    /// A number that is higher for each later grant of the same resource: hand it to what the lock
    /// protects, and let that refuse a smaller one than it has seen.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.held.fence
    }

    /// Who holds it, as others are told.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.held.terms.owner
    }

    /// What is left of the lease by this process's own clock: zero when it is lost or released. It
    /// is shorter than what the store would say, never longer. No I/O.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.held.remaining()
    }

    /// Whether, and why, the lock is lost, here and now. No I/O.
    #[must_use]
    pub fn loss(&self) -> Option<LockLoss> {
        self.held.loss()
    }

    /// Whether the lock is lost, here and now. No I/O.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.loss().is_some()
    }

    /// Ends when the lock is lost: at the latest at the end of the lease as this process counts it,
    /// from before the lock was asked for and a hundredth shorter than the store does, without any
    /// answer of the store. From then on others may hold it. Never ends once it is released.
    ///
    /// It does no I/O. What the store says is learnt by renewals, and by a look when the store tells
    /// of a change: a lock that is not renewed ends with its lease and hears nothing before that.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind; asked again, it gives the same answer.
    pub async fn lost(&self) -> LockLoss {
        self.held.until_lost().await
    }

    /// A second handle that can look, but not release: for the tasks that work under the lock.
    #[must_use]
    pub fn view(&self) -> LockView {
        LockView(Arc::clone(&self.held))
    }

    /// What another process, or this one later, can take the lock up again with. It stays this
    /// guard's to release.
    #[must_use]
    pub fn ticket(&self) -> LockTicket {
        LockTicket::new(&self.held.resource, self.held.token, self.held.fence)
    }

    /// Hands the lock on: this guard is over, and nothing is released or renewed. Whoever resumes
    /// the ticket goes on; if nobody does, the lock is free when its lease ends.
    #[must_use]
    pub fn detach(self) -> LockTicket {
        self.leave_keeper();
        self.held.settle();
        self.ticket()
    }

    /// Renews it no more.
    pub(super) fn leave_keeper(&self) {
        if let Some(Kept { place, sentinel }) = self.kept.lock().take() {
            self.locks.0.keeper.leave(place, &self.held);
            sentinel.abort();
        }
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        self.leave_keeper();
        self.locks.0.count.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        if self.held.is_settled() {
            return;
        }
        let Held { at, token, terms, .. } = &*self.held;
        // A lease that is over may have been anybody's since: only a look tells.
        let lost = self.held.remaining().is_zero();
        let start = if lost || !terms.min_hold.is_zero() {
            super::drive::Start::Look
        } else {
            self.held.start()
        };
        self.held.settle();
        let limit = terms.ttl.as_duration();
        let left = Left::Held(start);
        self.locks.0.reaper.give_back(at.clone(), *token, left, limit, &self.runtime);
    }
}

/// A handle to a lock that is held elsewhere in this process: it can look, but not release. A clone
/// is another handle to the same lock.
#[derive(Debug, Clone)]
pub struct LockView(Arc<Held>);

impl LockView {
    /// As [`LockGuard::resource`].
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.0.resource
    }

    /// As [`LockGuard::fence`].
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.0.fence
    }

    /// As [`LockGuard::remaining`].
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.remaining()
    }

    /// As [`LockGuard::loss`].
    #[must_use]
    pub fn loss(&self) -> Option<LockLoss> {
        self.0.loss()
    }

    /// As [`LockGuard::lost`].
    ///
    /// # Cancel safety
    ///
    /// As [`LockGuard::lost`].
    pub async fn lost(&self) -> LockLoss {
        self.0.until_lost().await
    }
}
