//! Acquiring: try, or wait for one's turn.

use std::sync::Arc;
use std::time::Duration;

use semel_core::protocol::Verdict;
use semel_core::protocol::lock::{Acquire, Acquired, LockAsk, LockSeen, Occupant, Queueing};
use semel_core::{StoreError, StoreErrorKind};

use super::drive::{Driven, Start, drive};
use super::error::{HeldBy, LockError};
use super::guard::LockGuard;
use super::held::Granted;
use super::queue::{ALIVE, Look};
use super::request::{Loose, Request};
use crate::drive::PATIENCE;
use crate::timer::{self, Moment};

/// How much longer than its caller's time an acquisition gives the store for an answer.
const GRACE: Duration = Duration::from_millis(500);

/// What trying to get a lock came to. "Held" is a value, not an error.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub enum TryAcquired {
    /// It is ours, until the guard is released, dropped or lost.
    Acquired(LockGuard),
    /// Others have it.
    Held(HeldBy),
}

/// What waiting for a lock came to.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub enum AcquiredWithin {
    /// It is ours, until the guard is released, dropped or lost.
    Acquired(LockGuard),
    /// Others still had it when the time was up.
    TimedOut(HeldBy),
}

/// What one attempt came to.
enum Attempt {
    Granted(LockGuard),
    /// With what was seen, to go on from.
    Held(Occupant, Start),
    Queued(Occupant),
}

impl Request {
    /// Takes the lock if it is free.
    pub(super) async fn try_acquire(self) -> Result<TryAcquired, LockError> {
        let mut loose = Loose::new(&self);
        let start = Start::Presumed(LockSeen::presumed_free());
        let tried = self.attempt(&mut loose, Queueing::Past, start, PATIENCE).await;
        drop(loose);
        match tried? {
            Attempt::Granted(guard) => Ok(TryAcquired::Acquired(guard)),
            Attempt::Held(occupant, _) | Attempt::Queued(occupant) => {
                Ok(TryAcquired::Held(HeldBy::new(self.resource, occupant)))
            }
        }
    }

    /// Takes the lock if it is free and nobody waits, or waits for its turn.
    pub(super) async fn acquire_within(
        self,
        budget: Duration,
    ) -> Result<AcquiredWithin, LockError> {
        let began = Moment::now();
        let mut loose = Loose::new(&self);
        let start = Start::Presumed(LockSeen::presumed_free());
        let limit = PATIENCE.min(budget.saturating_add(GRACE));
        let (occupant, there) =
            match self.attempt(&mut loose, Queueing::Behind, start, limit).await? {
                Attempt::Granted(guard) => return Ok(AcquiredWithin::Acquired(guard)),
                Attempt::Held(occupant, there) => (occupant, there),
                Attempt::Queued(occupant) => (occupant, Start::Look),
            };
        let mut wait = Wait { request: &self, loose, occupant, failed: None };
        let left = budget.saturating_sub(began.elapsed());
        let closed = self.locks.0.closed.cancelled();
        let waited = tokio::select! {
            waited = timer::within(left, wait.for_turn(there)) => waited,
            () = closed => Some(Err(LockError::Cancelled)),
        };
        match waited {
            Some(Ok(guard)) => Ok(AcquiredWithin::Acquired(guard)),
            Some(Err(error)) => Err(error),
            None => wait.timed_out(),
        }
    }

    /// Asks once, from what is presumed or was seen.
    async fn attempt(
        &self,
        loose: &mut Loose<'_>,
        queueing: Queueing,
        start: Start,
        limit: Duration,
    ) -> Result<Attempt, LockError> {
        if self.locks.0.closed.is_cancelled() {
            loose.is_nothing();
            return Err(LockError::Cancelled);
        }
        loose.is_unknown();
        let ask = self.ask(queueing);
        let asked = timer::within(limit, drive(&*self.locks.0.store, &self.at, &ask, start)).await;
        let late = || StoreError::unknown(format!("no answer within {limit:?}"));
        match asked.unwrap_or_else(|| Err(late())) {
            Ok(driven) => self.answered(loose, driven),
            Err(error) => {
                if error.kind() != StoreErrorKind::Unknown {
                    loose.is_nothing();
                }
                Err(LockError::of(error))
            }
        }
    }

    fn answered(
        &self,
        loose: &mut Loose<'_>,
        mut driven: Driven<Acquired>,
    ) -> Result<Attempt, LockError> {
        let answer = std::mem::replace(&mut driven.answer, Acquired::OtherKind(self.want.kind()));
        match answer {
            Acquired::Granted { fence, left } => {
                let guard =
                    Granted::of(driven, fence, left).and_then(|granted| self.guard(granted));
                let Some(guard) = guard else {
                    loose.is_unwanted();
                    let late = "the store is slower than the lease is long";
                    return Err(LockError::Unavailable(StoreError::not_applied(late)));
                };
                loose.is_nothing();
                Ok(Attempt::Granted(guard))
            }
            Acquired::Held(occupant) => {
                loose.is_nothing();
                let asked = driven.asked;
                let there = driven.seen.map_or(Start::Look, |seen| Start::Seen(seen, asked));
                Ok(Attempt::Held(occupant, there))
            }
            Acquired::Queued(occupant) => {
                loose.is_place();
                Ok(Attempt::Queued(occupant))
            }
            Acquired::OtherKind(recorded) => {
                loose.is_nothing();
                Err(LockError::OtherKind { recorded })
            }
        }
    }
}

/// One who waits for its turn.
struct Wait<'a> {
    request: &'a Request,
    loose: Loose<'a>,
    /// Who was in the way when somebody last looked.
    occupant: Occupant,
    /// Why the last look failed.
    failed: Option<Arc<Look>>,
}

impl Wait<'_> {
    /// Takes a place in the queue, and waits until it is the first.
    async fn for_turn(&mut self, there: Start) -> Result<LockGuard, LockError> {
        let Request { locks, at, token, runtime, .. } = self.request;
        let ask = self.request.ask(Queueing::Place(ALIVE));
        let gate = locks.0.queues.gate(at);
        // What was seen before one waited for a place is old.
        let (_place, there) = match gate.at_once() {
            Some(place) => (Some(place), there),
            None => (gate.through().await, Start::Look),
        };
        let mut waiting = locks.0.queues.join(at, *token, runtime);
        if let Some(guard) = self.ask(&ask, there).await? {
            return Ok(guard);
        }
        loop {
            while let Some(look) = waiting.next().await {
                if let Some(guard) = self.look(&ask, look).await? {
                    return Ok(guard);
                }
            }
            // Whoever looked was lost with its task: another will do.
            waiting = locks.0.queues.join(at, *token, runtime);
        }
    }

    /// Acts on what was seen: takes the lock if it is our turn, a place if we have none.
    async fn look(
        &mut self,
        ask: &Acquire,
        look: Arc<Look>,
    ) -> Result<Option<LockGuard>, LockError> {
        let seen = match &look.seen {
            Ok(seen) => seen,
            // It will not become readable by waiting.
            Err(error) if error.kind() == StoreErrorKind::Damaged => {
                return Err(LockError::Damaged(copied(error)));
            }
            Err(_) => {
                self.failed = Some(look);
                return Ok(None);
            }
        };
        self.failed = None;
        if let Verdict::Answer(Acquired::Held(occupant) | Acquired::Queued(occupant)) =
            ask.decide(seen)
        {
            self.occupant = occupant;
            return Ok(None);
        }
        self.ask(ask, Start::Seen(seen.clone(), look.asked)).await
    }

    async fn ask(&mut self, ask: &Acquire, start: Start) -> Result<Option<LockGuard>, LockError> {
        match self.request.attempt(&mut self.loose, ask.queueing, start, PATIENCE).await {
            Ok(Attempt::Granted(guard)) => Ok(Some(guard)),
            Ok(Attempt::Held(occupant, _) | Attempt::Queued(occupant)) => {
                self.occupant = occupant;
                Ok(None)
            }
            // There is time left in which the store may be back.
            Err(LockError::Unavailable(error) | LockError::Indeterminate(error)) => {
                self.loose.is_unknown();
                let seen = Err(error);
                self.failed = Some(Arc::new(Look { seen, asked: Moment::now() }));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The time is up. Who could not see the lock does not know that it is held.
    fn timed_out(self) -> Result<AcquiredWithin, LockError> {
        match self.failed.as_deref() {
            Some(Look { seen: Err(error), .. }) => Err(LockError::of(copied(error))),
            _ => {
                let held = HeldBy::new(Arc::clone(&self.request.resource), self.occupant.clone());
                Ok(AcquiredWithin::TimedOut(held))
            }
        }
    }
}

/// An error that several waiters share, for each of them.
fn copied(error: &StoreError) -> StoreError {
    StoreError::of(error.kind(), error.message())
}
