//! All renewals of one engine, in one task.
//!
//! A claim is entered when it is made and taken out when it ends: the keeper holds no claim that
//! nobody works on, and it sleeps unless one is due. Claims that are due at about the same time
//! are renewed together.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use semel_core::Store;
use semel_core::protocol::{LeaseStep, Renew, Renewed, Seen};
use slab::Slab;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::drive::drive;
use crate::once::{Held, LossReason};
use crate::timer;

/// How many renewals are under way at once.
const AT_ONCE: usize = 64;

/// The renewals of one engine.
#[derive(Debug)]
pub(crate) struct Keeper {
    store: Arc<dyn Store>,
    claims: Mutex<Claims>,
    earlier: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Claims {
    slots: Slab<Entry>,
    /// When the task will look next; none while it is not running.
    wakes: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    held: Arc<Held>,
    next: Instant,
    step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Renew,
    End,
    /// A renewal is under way.
    Busy,
}

/// A claim's place with the keeper.
#[derive(Debug)]
pub(crate) struct Place(usize);

impl Keeper {
    pub(crate) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, claims: Mutex::default(), earlier: Arc::default() })
    }

    /// Renews this claim from now on. Needs a runtime, on which the task runs.
    pub(crate) fn enter(self: &Arc<Self>, held: &Arc<Held>) -> Place {
        let (next, step) = plan(held, held.lease.after_grant(Duration::ZERO));
        let mut claims = self.claims.lock();
        let place = claims.slots.insert(Entry { held: Arc::clone(held), next, step });
        match claims.wakes {
            Some(wakes) if wakes <= next => {}
            Some(_) => {
                claims.wakes = Some(next);
                self.earlier.notify_one();
            }
            None => {
                claims.wakes = Some(next);
                let running = Running { keeper: Arc::downgrade(self), ended: false };
                tokio::spawn(run(running, Arc::clone(&self.earlier)));
            }
        }
        Place(place)
    }

    /// Renews it no more. After this no renewal begins; one that is under way is settled by the
    /// version that it carries.
    pub(crate) fn leave(&self, place: &Place) {
        self.claims.lock().slots.try_remove(place.0);
    }

    /// How many claims are kept, for tests and gauges.
    pub(crate) fn kept(&self) -> usize {
        self.claims.lock().slots.len()
    }

    /// What is due now, marked as under way.
    fn take_due(&self, now: Instant, most: usize) -> Vec<(usize, Arc<Held>, Step)> {
        let mut claims = self.claims.lock();
        let mut due = Vec::new();
        for (place, entry) in &mut claims.slots {
            if due.len() == most {
                break;
            }
            if entry.step != Step::Busy && entry.next <= now + slack(&entry.held) {
                // An end is not brought forward: it is a deadline.
                if entry.step == Step::End && now < entry.next {
                    continue;
                }
                due.push((place, Arc::clone(&entry.held), entry.step));
                entry.step = Step::Busy;
            }
        }
        due
    }

    /// When to look next. `idle`: no renewal is under way; then, with no claim left, the task may
    /// end, and the next claim starts another.
    fn next_wake(&self, idle: bool) -> Wake {
        let mut claims = self.claims.lock();
        let waiting = claims.slots.iter().filter(|(_, entry)| entry.step != Step::Busy);
        let next = waiting.map(|(_, entry)| entry.next).min();
        if next.is_none() && idle {
            claims.wakes = None;
            return Wake::Never;
        }
        // While renewals are under way the task wakes anyway; until then a day will do.
        let next = next.unwrap_or_else(|| timer::now() + Duration::from_secs(86_400));
        claims.wakes = Some(next);
        Wake::At(next)
    }

    async fn attend(&self, place: usize, held: Arc<Held>, step: Step) {
        let next = match step {
            Step::Renew => self.renew(&held).await,
            Step::End | Step::Busy => {
                held.lose(LossReason::Expired);
                None
            }
        };
        let mut claims = self.claims.lock();
        // The place may have been left meanwhile, and even be somebody else's by now.
        let ours = claims.slots.get(place).is_some_and(|entry| Arc::ptr_eq(&entry.held, &held));
        match next {
            Some(step) if ours => {
                let (next, step) = plan(&held, step);
                claims.slots[place].next = next;
                claims.slots[place].step = step;
            }
            None if ours => drop(claims.slots.remove(place)),
            Some(_) | None => {}
        }
    }

    /// Renews once, and says what comes next; none when the claim is lost.
    async fn renew(&self, held: &Held) -> Option<LeaseStep> {
        let sent = held.since_asked();
        let ask = Renew { token: held.claim.token, lease: held.length, keep: held.keep };
        let seen = Seen::presumed_held(held.claim.clone(), held.version());
        // A reply later than the lease's end is of no use: it must not hold up the others.
        let answer =
            timer::within(held.lease.length / 3, drive(&*self.store, &held.at, &ask, seen)).await;
        match answer {
            Some(Ok(driven)) => match driven.answer {
                Renewed::Renewed => {
                    held.renewed(sent, driven.version);
                    Some(held.lease.after_grant(sent))
                }
                Renewed::Lost => {
                    held.lose(LossReason::Taken);
                    None
                }
            },
            Some(Err(error)) => {
                metrics::counter!("semel_renewals_failed_total").increment(1);
                tracing::warn!(key = %held.at.digest, %error, "a lease could not be renewed");
                Some(held.lease.after_failure(held.granted(), held.since_asked()))
            }
            None => Some(held.lease.after_failure(held.granted(), held.since_asked())),
        }
    }
}

fn plan(held: &Held, step: LeaseStep) -> (Instant, Step) {
    match step {
        LeaseStep::RenewAt(at) => (held.asked + at, Step::Renew),
        LeaseStep::EndsAt(at) => (held.asked + at, Step::End),
    }
}

/// How much earlier than due a claim may be renewed, to go together with others.
fn slack(held: &Held) -> Duration {
    held.lease.length / 24
}

enum Wake {
    At(Instant),
    Never,
}

/// The task's own hold: it does not keep the engine alive, and when it is dropped with its
/// runtime, the next claim starts another.
struct Running {
    keeper: Weak<Keeper>,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(keeper) = self.keeper.upgrade().filter(|_| !self.ended) {
            keeper.claims.lock().wakes = None;
        }
    }
}

async fn run(mut running: Running, earlier: Arc<Notify>) {
    let mut under_way = FuturesUnordered::new();
    loop {
        let wake = {
            let Some(keeper) = running.keeper.upgrade() else { return };
            for (place, held, step) in keeper.take_due(timer::now(), AT_ONCE - under_way.len()) {
                let keeper = Arc::clone(&keeper);
                under_way.push(async move { keeper.attend(place, held, step).await });
            }
            keeper.next_wake(under_way.is_empty())
        };
        let Wake::At(next) = wake else {
            running.ended = true;
            return;
        };
        tokio::select! {
            () = timer::sleep_until(next), if under_way.len() < AT_ONCE => {}
            () = earlier.notified() => {}
            Some(()) = under_way.next() => {}
        }
    }
}
