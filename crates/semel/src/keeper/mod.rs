//! All renewals of one engine, in one task for each runtime: of its claims, or of its locks.
//!
//! A claim is entered when it is made and taken out when it ends: the keeper holds no claim that
//! nobody works on, and it sleeps unless one is due. Claims that are due at about the same time
//! are renewed together. A claim is renewed by the runtime in which it began, and ends with it: no
//! other runtime is sure to run as long as the claim's work does.

mod group;
mod renew;
mod task;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use semel_core::protocol::{Lease, LeaseStep};
use semel_core::{Store, StoreError};
use tokio::runtime::{Handle, Id};
use tokio::time::Instant;

use self::group::{Group, Next, Start};
use crate::once::Held;

/// What is kept: a claim or a lock, as this process knows it.
pub(crate) trait Leased: Debug + Send + Sync + 'static {
    /// Why it is not ours any more.
    type Loss: Send;

    /// When it was asked for: all durations here count from it.
    fn asked(&self) -> Instant;

    /// Its lease as this process counts it.
    fn lease(&self) -> &Lease;

    /// Renews it once.
    fn renew(&self, store: &dyn Store) -> impl Future<Output = Kept<Self::Loss>> + Send;

    /// It is not ours any more.
    fn lose(&self, why: Self::Loss);

    /// Its lease has ended, and it is renewed no more.
    fn lapse(&self);
}

/// What a renewal came to.
pub(crate) enum Kept<L> {
    /// It is kept, and this comes next.
    On(LeaseStep),
    /// It could not be renewed this time.
    Failed(LeaseStep, StoreError),
    /// Its owner finished it.
    Finished,
    /// It is somebody else's or gone, or its lease has ended.
    Lost(L),
}

/// The renewals of one engine.
#[derive(Debug)]
pub(crate) struct Keeper<H = Held> {
    store: Arc<dyn Store>,
    /// One for each runtime in which there are claims: one, almost always.
    groups: Mutex<Vec<Group<H>>>,
}

/// A claim's place with the keeper. It may be somebody else's by now: whoever uses it says whose
/// it is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    runtime: Id,
    slot: usize,
}

impl<H: Leased> Keeper<H> {
    pub(crate) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, groups: Mutex::default() })
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Renews this claim from now on, in this runtime.
    pub(crate) fn enter(self: &Arc<Self>, held: &Arc<H>, runtime: &Handle) -> Place {
        let next = plan(&**held, held.lease().after_grant(Duration::ZERO));
        let id = runtime.id();
        let (slot, start) = {
            let mut groups = self.groups.lock();
            let index = groups.iter().position(|group| group.runtime == id);
            let index = index.unwrap_or_else(|| {
                groups.push(Group::new(id));
                groups.len() - 1
            });
            groups[index].enter(held, next)
        };
        // Not under the lock: a runtime that is shutting down drops the task at once, and what
        // the task does then needs the lock.
        if let Start::Task(earlier) = start {
            runtime.spawn(task::run(task::Running::new(self, id), earlier));
        }
        Place { runtime: id, slot }
    }

    /// Renews it no more. After this no renewal begins; one that is under way is settled by the
    /// version that it carries.
    pub(crate) fn leave(&self, place: Place, held: &Arc<H>) {
        self.in_group(place.runtime, |group| group.leave(place.slot, held));
    }

    /// How many claims are kept, for tests and gauges.
    pub(crate) fn kept(&self) -> usize {
        self.groups.lock().iter().map(Group::len).sum()
    }

    /// Does something to a runtime's group, if it is there, and lets it go once nobody needs it.
    fn in_group<T>(&self, runtime: Id, change: impl FnOnce(&mut Group<H>) -> T) -> Option<T> {
        let mut groups = self.groups.lock();
        let index = groups.iter().position(|group| group.runtime == runtime)?;
        let changed = change(&mut groups[index]);
        if groups[index].is_over() {
            groups.swap_remove(index);
        }
        Some(changed)
    }
}

fn plan(held: &impl Leased, step: LeaseStep) -> Next {
    let after = |at: Duration| -> Instant { held.asked() + at };
    match step {
        LeaseStep::RenewAt(at) => Next::Renew(after(at)),
        LeaseStep::EndsAt(at) => Next::End(after(at)),
    }
}
