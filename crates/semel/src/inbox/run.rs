//! Doing a message's work under its claim, and saying how it ended.

use std::any::Any;
use std::panic::{AssertUnwindSafe, resume_unwind};

use bytes::Bytes;
use futures_util::FutureExt;
use semel_core::cocommit::TransactionHandle;
use semel_core::{Doubt, Extent, Form, Outcome, StoreError};

use super::attempts::{AttemptLimit, Counter};
use super::delivery::Delivery;
use super::door::Inbox;
use super::error::InboxError;
use super::start::{Tally, later, refused};
use crate::once::{Attached, Call, Claim, Finished, GivenUp, NotCommitted, Permit};
use crate::policy::OnException;
use crate::run::{FinishAnyway, panic_outcome};

/// What becomes of a panic of the work, once it is dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Panics {
    /// It goes on.
    GoOn,
    /// It is told as an error: other messages must not suffer.
    AreTold,
}

impl Panics {
    pub(super) fn end<E>(self, panic: Box<dyn Any + Send>) -> InboxError<E> {
        match self {
            Self::GoOn => resume_unwind(panic),
            Self::AreTold => InboxError::Panicked,
        }
    }
}

/// A message whose work runs.
pub(super) struct Running {
    pub(super) inbox: Inbox,
    pub(super) call: Call,
    pub(super) counter: Counter,
    pub(super) tally: Tally,
}

/// How work ended that succeeded.
enum Succeeded {
    Done,
    NotCommitted(NotCommitted),
    /// The claim was lost meanwhile: this stands in its place.
    Late(Attached),
}

/// How work ended that failed.
enum Failed {
    /// It may be tried again.
    Again { attempts: u32 },
    /// It was the last time.
    Poison { attempts: u32 },
    /// The claim was lost meanwhile: this stands in its place.
    Late { instead: Attached, attempts: u32 },
}

impl Running {
    pub(super) async fn work<E, W, F>(
        self,
        claim: Claim,
        panics: Panics,
        work: W,
    ) -> Result<Delivery<E>, InboxError<E>>
    where
        W: FnOnce(Permit, Option<TransactionHandle>) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let inbox = self.inbox.clone();
        let tasks = inbox.0.once.tasks();
        let (permit, transaction) = (claim.permit(), claim.transaction());
        let run = async move { work(permit, transaction).await };
        // What goes on after the work goes on even if nobody waits for it any more.
        match AssertUnwindSafe(run).catch_unwind().await {
            Ok(Ok(())) => match FinishAnyway::new(tasks, self.succeeded(claim)).await {
                Succeeded::Done => Ok(Delivery::Handled),
                Succeeded::NotCommitted(why) => Err(InboxError::NotCommitted(why)),
                // Where nothing stands our work was done, and is remembered by nobody.
                Succeeded::Late(instead) => {
                    stands(&inbox, instead).unwrap_or(Ok(Delivery::Handled))
                }
            },
            Ok(Err(error)) => match FinishAnyway::new(tasks, self.failed(claim)).await {
                Failed::Again { attempts } => Err(InboxError::Failed { error, attempts }),
                Failed::Poison { attempts } => {
                    Ok(Delivery::Poison { attempts, error: Some(error) })
                }
                Failed::Late { instead, attempts } => {
                    stands(&inbox, instead).unwrap_or(Err(InboxError::Failed { error, attempts }))
                }
            },
            Err(panic) => {
                FinishAnyway::new(tasks, self.panicked(claim)).await;
                Err(panics.end(panic))
            }
        }
    }

    async fn succeeded(self, mut claim: Claim) -> Succeeded {
        // There is nothing to give out again: that it was handled is all.
        let payload = Bytes::new();
        let outcome = Outcome { form: Form::Bytes, extent: Extent::Whole, payload };
        match claim.record(outcome).await {
            Finished::Recorded | Finished::RecordedInPart => {
                self.forget_attempts().await;
                Succeeded::Done
            }
            // It is done all the same. Put back, it would be done again.
            Finished::Pending | Finished::Unrecorded => Succeeded::Done,
            Finished::NotCommitted(why) => {
                let _logged = self.count_failure(self.attempts()).await;
                Succeeded::NotCommitted(why)
            }
            Finished::Superseded(successor) => {
                let once = &self.inbox.0.once;
                Succeeded::Late(once.attach_to(&self.call, successor).await)
            }
        }
    }

    /// An error is a failure to be tried again; under a guarantee of at most one effect, work that
    /// may have had one must not run again.
    async fn failed(self, claim: Claim) -> Failed {
        let attempts = self.attempts();
        let frozen = claim.policy().guarantee().freezes_failures();
        let given_up =
            if frozen { claim.doubt(Doubt::Exception).await } else { claim.release().await };
        match given_up {
            GivenUp::NotOurs => {
                let instead = self.inbox.0.once.attach(&self.call).await;
                Failed::Late { instead, attempts }
            }
            GivenUp::Settled | GivenUp::AlreadyGone if !frozen => self.tried_again(attempts).await,
            // Doubt ends it; and a store that is down counts nothing.
            GivenUp::Settled | GivenUp::AlreadyGone | GivenUp::Pending => {
                Failed::Again { attempts }
            }
        }
    }

    async fn tried_again(&self, attempts: u32) -> Failed {
        let last = self.inbox.0.attempt_limit.is_reached(attempts);
        // Poison only where nothing of it is left: a message out of a dead-letter queue must run.
        if last && self.count(|_| 0).await.is_ok() {
            return Failed::Poison { attempts };
        }
        if !last {
            let _logged = self.count_failure(attempts).await;
        }
        Failed::Again { attempts }
    }

    async fn panicked(self, mut claim: Claim) {
        let attempts = self.attempts();
        match claim.policy().on_exception() {
            OnException::Release => {
                let given_up = claim.release().await;
                if matches!(given_up, GivenUp::Settled | GivenUp::AlreadyGone) {
                    let _logged = self.count_failure(attempts).await;
                }
            }
            OnException::Doubt => drop(claim.doubt(Doubt::Exception).await),
            OnException::Record => {
                claim.take_rows_back();
                drop(claim.record(panic_outcome()).await);
            }
        }
    }

    /// How often the message was tried, this time included.
    const fn attempts(&self) -> u32 {
        self.tally.before.saturating_add(1)
    }

    /// It was handled: attempts that are counted mean nothing any more.
    async fn forget_attempts(&self) {
        if self.tally.count.number > 0 {
            let _logged = self.count(|_| 0).await;
        }
    }

    /// What others counted meanwhile is not lost.
    async fn count_failure(&self, attempts: u32) -> Result<(), StoreError> {
        let more = attempts.saturating_sub(self.tally.count.number);
        self.count(|number| number.saturating_add(more)).await
    }

    async fn count(&self, to: impl Fn(u32) -> u32) -> Result<(), StoreError> {
        if self.inbox.0.attempt_limit == AttemptLimit::Unlimited {
            return Ok(());
        }
        let counted = self.counter.change(self.tally.count, to).await;
        counted.map(drop).inspect_err(|error| {
            tracing::warn!(
                key = %self.counter.at.digest,
                error = error as &dyn std::error::Error,
                "a message's attempts could not be counted"
            );
        })
    }
}

/// What stands in place of a claim that was lost; none if that is nothing.
fn stands<E>(inbox: &Inbox, instead: Attached) -> Option<Result<Delivery<E>, InboxError<E>>> {
    match instead {
        Attached::Replay(_) => Some(Ok(Delivery::Duplicate)),
        Attached::Busy(busy) => Some(Ok(later(inbox, busy))),
        Attached::Refused(problem) => Some(refused(problem)),
        Attached::Nothing => None,
    }
}
