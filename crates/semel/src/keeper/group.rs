//! The claims that one runtime renews, and when each is due.

use std::sync::Arc;
use std::time::Duration;

use slab::Slab;
use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Leased;

/// How long a task sleeps that has nothing to wait for but renewals under way.
const FAR: Duration = Duration::from_secs(86_400);

/// The claims of one runtime.
#[derive(Debug)]
pub(super) struct Group<H> {
    pub(super) runtime: Id,
    slots: Slab<Entry<H>>,
    /// When the task will look next; none while there is no task.
    wakes: Option<Instant>,
    earlier: Arc<Notify>,
}

#[derive(Debug)]
struct Entry<H> {
    held: Arc<H>,
    next: Next,
}

/// What comes next for a claim.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    Renew(Instant),
    /// It is renewed no more.
    End(Instant),
    /// A renewal is under way.
    Busy,
}

/// Whether a task must be started, which then listens for what is due earlier than it thought.
pub(super) enum Start {
    Task(Arc<Notify>),
    No,
}

/// What a look found.
pub(super) struct Look<H> {
    pub(super) due: Vec<Due<H>>,
    pub(super) ended: Vec<Arc<H>>,
    /// When to look again; none when there is nothing left to do and the task is to end.
    pub(super) wakes: Option<Instant>,
}

/// A claim to be renewed now.
pub(super) struct Due<H> {
    pub(super) slot: usize,
    pub(super) held: Arc<H>,
}

impl<H> Default for Look<H> {
    fn default() -> Self {
        Self { due: Vec::new(), ended: Vec::new(), wakes: None }
    }
}

impl<H: Leased> Group<H> {
    pub(super) fn new(runtime: Id) -> Self {
        Self { runtime, slots: Slab::new(), wakes: None, earlier: Arc::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// No claim, and no task that would look for some.
    pub(super) fn is_over(&self) -> bool {
        self.slots.is_empty() && self.wakes.is_none()
    }

    pub(super) fn enter(&mut self, held: &Arc<H>, next: Next) -> (usize, Start) {
        let slot = self.slots.insert(Entry { held: Arc::clone(held), next });
        let Some(at) = next.at() else { return (slot, Start::No) };
        if self.wakes.is_none() {
            self.wakes = Some(at);
            return (slot, Start::Task(Arc::clone(&self.earlier)));
        }
        self.wake_by(at);
        (slot, Start::No)
    }

    pub(super) fn leave(&mut self, slot: usize, held: &Arc<H>) {
        if self.is_at(slot, held) {
            self.slots.remove(slot);
        }
    }

    /// What is due by now: taken as under way, or out if it has ended. `idle`: no renewal is under
    /// way.
    pub(super) fn look(&mut self, now: Instant, idle: bool) -> Look<H> {
        let mut look = Look::default();
        let mut wakes: Option<Instant> = None;
        self.slots.retain(|slot, entry| {
            match entry.next {
                Next::Renew(at) if at <= now + slack(&*entry.held) => {
                    entry.next = Next::Busy;
                    look.due.push(Due { slot, held: Arc::clone(&entry.held) });
                }
                Next::End(at) if at <= now => {
                    look.ended.push(Arc::clone(&entry.held));
                    return false;
                }
                Next::Renew(at) | Next::End(at) => {
                    wakes = Some(wakes.map_or(at, |wakes| wakes.min(at)));
                }
                Next::Busy => {}
            }
            true
        });
        let over = idle && self.slots.is_empty();
        self.wakes = if over { None } else { wakes.or(Some(now + FAR)) };
        look.wakes = self.wakes;
        look
    }

    /// A renewal has ended and this comes next, none if the claim is not to be kept. Whether the
    /// claim was still there: it may have left meanwhile, and its place be somebody else's.
    pub(super) fn settle(&mut self, slot: usize, held: &Arc<H>, next: Option<Next>) -> bool {
        if !self.is_at(slot, held) {
            return false;
        }
        match next {
            Some(next) => {
                self.slots[slot].next = next;
                next.at().into_iter().for_each(|at| self.wake_by(at));
            }
            None => drop(self.slots.remove(slot)),
        }
        true
    }

    /// The task was dropped, and what was under way with it.
    pub(super) fn task_is_gone(&mut self, now: Instant) {
        self.wakes = None;
        for (_, entry) in &mut self.slots {
            if matches!(entry.next, Next::Busy) {
                entry.next = Next::Renew(now);
            }
        }
    }

    fn is_at(&self, slot: usize, held: &Arc<H>) -> bool {
        self.slots.get(slot).is_some_and(|entry| Arc::ptr_eq(&entry.held, held))
    }

    fn wake_by(&mut self, at: Instant) {
        if let Some(wakes) = &mut self.wakes
            && at < *wakes
        {
            *wakes = at;
            self.earlier.notify_one();
        }
    }
}

impl Next {
    const fn at(self) -> Option<Instant> {
        match self {
            Self::Renew(at) | Self::End(at) => Some(at),
            Self::Busy => None,
        }
    }
}

/// How much earlier than due a claim may be renewed, to go together with others. An end is never
/// brought forward: it is a deadline.
fn slack(held: &impl Leased) -> Duration {
    held.lease().length / 24
}
