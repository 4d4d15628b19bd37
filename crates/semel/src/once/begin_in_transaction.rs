//! Beginning a call in a transaction of the store's.

use std::pin::pin;
use std::time::Duration;

use semel_core::cocommit::{self, Began, Nobody, OpenCall, Step};
use semel_core::protocol::{self, Seen};
use semel_core::{StoreError, StoreTime};
use tokio::time::Instant;

use super::begin::Given;
use super::begun::{Begun, busy_for_unknown_time, refused_by, settled_as};
use super::call::Call;
use super::claim::Claim;
use super::engine::Once;
use super::in_transaction::InTransaction;
use super::turns::{Asked, Turn};
use crate::drive::{PATIENCE, in_time, look};
use crate::policy::InFlight;
use crate::problem::ProblemKind;
use crate::timer;

/// A call that begins in a transaction.
struct Beginning<'a> {
    once: &'a Once,
    call: &'a Call,
    ask: cocommit::Call,
    began: Instant,
}

/// One step of it.
enum Stepped {
    /// It came to this.
    To(Begun),
    /// Others were there; now this is.
    Seen(Seen),
}

impl Once {
    /// Whether such a call is in its transaction in this process, as far as can be told without a
    /// look at the store.
    pub(crate) fn is_in_transaction(&self, call: &Call) -> bool {
        self.0.turns.is_taken(&call.at.key)
    }

    pub(super) async fn begin_in_transaction(&self, call: &Call) -> Begun {
        let (began, ask) = (timer::now(), self.ask(call));
        let ask = cocommit::Call::new(call.at.key.clone(), ask, call.policy.keep);
        let beginning = Beginning { once: self, call, ask, began };
        let mut seen = None;
        loop {
            let next = seen.take().map(|seen| beginning.ask.step(&seen));
            let stepped = match next {
                // What others did is an answer: no transaction is needed.
                Some(Step::Settled(began)) => beginning.settled(began).await,
                Some(Step::Swap { .. }) | None => beginning.take_turn().await,
            };
            match stepped {
                Stepped::To(begun) => return begun,
                Stepped::Seen(there) => seen = Some(there),
            }
        }
    }
}

impl Beginning<'_> {
    async fn take_turn(&self) -> Stepped {
        match self.once.0.turns.ask(&self.call.at.key, self.call.policy.max_waiters_per_key) {
            Asked::Ours(turn) => self.begin(turn).await,
            Asked::TooMany => self.busy(),
            Asked::Others(end) => match timer::within(self.left(), end.wait()).await {
                // All who waited look together.
                Some(()) => self.wait(StoreTime::from_micros(0), Duration::ZERO).await,
                None => self.busy(),
            },
        }
    }

    async fn begin(&self, turn: Turn) -> Stepped {
        let Some(transactions) = &self.once.0.transactions else {
            tracing::error!(
                "a call wants the guarantee `transactional` from an engine without transactions"
            );
            return Stepped::To(Begun::Refused(ProblemKind::StoreUnavailable.into()));
        };
        loop {
            let wait = self.left().min(PATIENCE);
            let begin = transactions.begin(&self.ask, wait);
            let began = timer::within(wait + PATIENCE, begin).await;
            let late = || StoreError::not_applied("no transaction began in time");
            let began = match began.unwrap_or_else(|| Err(late())) {
                Ok(began) => began.into_work(),
                Err(error) => return Stepped::To(Begun::Refused(refused_by(&error))),
            };
            match began {
                Ok(open) => return Stepped::To(self.fresh(open, turn)),
                Err(Began::Uncommitted) if self.left().is_zero() => return self.busy(),
                // It waited for the other transaction at the store, and may go on to.
                Err(Began::Uncommitted) => {}
                Err(settled) => {
                    drop(turn);
                    return self.settled(settled).await;
                }
            }
        }
    }

    fn fresh(&self, open: Box<dyn OpenCall>, turn: Turn) -> Begun {
        let transaction = InTransaction::new(open, turn);
        Begun::Fresh(Claim::in_transaction(self.once, self.call, transaction, self.began))
    }

    async fn settled(&self, began: Began<Nobody>) -> Stepped {
        let answer = match began {
            Began::Fresh(nobody) => match nobody {},
            Began::Uncommitted => return self.busy(),
            Began::InFlight { .. } => return self.wait_for_owner().await,
            Began::Reconcile(there) => {
                return match Box::pin(self.once.reconcile(self.call, there)).await {
                    Ok(there) => Stepped::Seen(there),
                    Err(problem) => Stepped::To(Begun::Refused(problem)),
                };
            }
            Began::Replay(outcome) => protocol::Begun::Replay(outcome),
            Began::KeyReused { recorded } => protocol::Begun::KeyReused { recorded },
            Began::Mismatch { differs } => protocol::Begun::Mismatch { differs },
            Began::InDoubt { since } => protocol::Begun::InDoubt { since },
        };
        Stepped::To(settled_as(answer, self.call))
    }

    /// The key is held by a call outside of a transaction.
    async fn wait_for_owner(&self) -> Stepped {
        let (store, at) = (&*self.once.0.store, &self.call.at);
        match in_time(pin!(look(store, at))).await {
            Ok(seen) => {
                let left = seen.record.map(|there| there.lease_left.as_duration());
                self.wait(seen.now, left.unwrap_or_default()).await
            }
            Err(error) => Stepped::To(Begun::Refused(refused_by(&error))),
        }
    }

    async fn wait(&self, since: StoreTime, lease_left: Duration) -> Stepped {
        let spent = timer::now() - self.began;
        match Box::pin(self.once.wait(self.call, since, spent, lease_left)).await {
            Ok(seen) => Stepped::Seen(seen),
            Err(Given::Busy(busy)) => Stepped::To(Begun::Busy(busy)),
            Err(Given::Failed(problem)) => Stepped::To(Begun::Refused(problem)),
        }
    }

    /// What is left of the time that the policy gives for waiting.
    fn left(&self) -> Duration {
        match self.call.policy.in_flight {
            InFlight::Reject => Duration::ZERO,
            InFlight::Wait(budget) => budget.saturating_sub(timer::now() - self.began),
        }
    }

    /// How long the other transaction takes is not known: a lease is the most that one is told.
    fn busy(&self) -> Stepped {
        Stepped::To(Begun::Busy(busy_for_unknown_time(&self.call.policy)))
    }
}
