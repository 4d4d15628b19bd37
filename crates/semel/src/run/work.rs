//! Running claimed work, and saying how it ended.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use futures_util::FutureExt;
use semel_core::{Doubt, Form, Outcome};

use super::answer::answer;
use super::anyway::FinishAnyway;
use super::error::CallError;
use super::failures::ErrorRule;
use super::value::{Codec, CodecError, outcome_of, panic_outcome};
use crate::once::{Attached, Call, Claim, Finished, Once, Permit};
use crate::policy::{Finality, OnException};

/// A call with what is needed to write its answer down and to read it again.
pub(super) struct Run<'a, C, R> {
    pub(super) once: &'a Once,
    pub(super) call: &'a Call,
    pub(super) codec: C,
    pub(super) rule: R,
}

impl<C, R> Run<'_, C, R> {
    pub(super) async fn claimed<T, E, W>(&self, claim: Claim, work: W) -> Result<T, CallError<E>>
    where
        C: Codec<T>,
        R: ErrorRule<E>,
        W: AsyncFnOnce(Permit) -> Result<T, E>,
    {
        let judged = async {
            match work(claim.permit()).await {
                Err(error) if judge(&self.rule, &error) == Finality::Transient => Err(error),
                stands => Ok(stands),
            }
        };
        let anyway = self.once.tasks();
        match AssertUnwindSafe(judged).catch_unwind().await {
            Ok(Ok(stands)) => {
                let (outcome, written) = self.outcome(&stands);
                let finished = FinishAnyway::new(anyway, record(claim, outcome)).await;
                written?;
                self.settle(stands, finished).await
            }
            Ok(Err(transient)) => {
                FinishAnyway::new(anyway, failed(claim)).await;
                Err(CallError::Work(transient))
            }
            Err(panic) => {
                FinishAnyway::new(anyway, panicked(claim)).await;
                resume_unwind(panic)
            }
        }
    }

    fn outcome<T, E>(&self, stands: &Result<T, E>) -> (Outcome, Result<(), CodecError>)
    where
        C: Codec<T>,
        R: ErrorRule<E>,
    {
        let (form, bytes) = match stands {
            Ok(value) => (C::FORM, self.codec.to_bytes(value)),
            Err(error) => (Form::Error, self.rule.to_bytes(error)),
        };
        match bytes {
            Ok(bytes) => (outcome_of(form, Some(bytes)), Ok(())),
            Err(error) => (outcome_of(form, None), Err(error)),
        }
    }

    /// The one answer that all callers agree on: our own, or that of whoever took over from us.
    async fn settle<T, E>(&self, ours: Result<T, E>, finished: Finished) -> Result<T, CallError<E>>
    where
        C: Codec<T>,
        R: ErrorRule<E>,
    {
        let ours = ours.map_err(CallError::Work);
        let Finished::Superseded(successor) = finished else { return ours };
        match self.once.attach_to(self.call, successor).await {
            Attached::Nothing => ours,
            Attached::Replay(replay) => answer(self.call, &self.codec, &self.rule, &replay.outcome),
            Attached::Busy(busy) => Err(CallError::Refused(busy.into())),
            Attached::Refused(problem) => Err(CallError::Refused(problem)),
        }
    }
}

/// The caller's own rule may panic. The work was done all the same: an error that can't be judged
/// stands.
fn judge<E, R: ErrorRule<E>>(rule: &R, error: &E) -> Finality {
    catch_unwind(AssertUnwindSafe(|| rule.judge(error))).unwrap_or_else(|_| {
        tracing::error!("the rule that tells which errors are final panicked");
        Finality::Final
    })
}

async fn record(mut claim: Claim, outcome: Outcome) -> Finished {
    claim.record(outcome).await
}

/// A transient error is no answer that could be replayed: under a guarantee of at most one effect,
/// work that may have had one must not run again.
async fn failed(claim: Claim) {
    if claim.policy().guarantee().freezes_failures() {
        claim.doubt(Doubt::Exception).await;
    } else {
        claim.release().await;
    }
}

async fn panicked(mut claim: Claim) {
    match claim.policy().on_exception() {
        OnException::Release => drop(claim.release().await),
        OnException::Doubt => drop(claim.doubt(Doubt::Exception).await),
        // A panic has no value to give out again; that the call has ended is what is recorded.
        OnException::Record => drop(claim.record(panic_outcome()).await),
    }
}
