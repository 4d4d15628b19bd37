//! Running claimed work, and saying how it ended.

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt;
use semel_core::{Doubt, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::anyway::FinishAnyway;
use super::error::CallError;
use super::value::{from_outcome, panic_outcome, to_bytes, value_outcome};
use crate::once::{Attached, Call, Claim, Finished, Once, Permit};
use crate::policy::OnException;

pub(super) async fn run_claimed<T, E, W>(
    once: &Once,
    call: &Call,
    claim: Claim,
    work: W,
) -> Result<T, CallError<E>>
where
    T: Serialize + DeserializeOwned,
    W: AsyncFnOnce(Permit) -> Result<T, E>,
{
    let anyway = once.tasks();
    match AssertUnwindSafe(work(claim.permit())).catch_unwind().await {
        Ok(Ok(value)) => {
            let (payload, written) = match to_bytes("value", &value) {
                Ok(bytes) => (Some(bytes), Ok(())),
                Err(error) => (None, Err(error)),
            };
            let recorded = record(claim, value_outcome(payload));
            let finished = FinishAnyway::new(anyway, recorded).await;
            written?;
            settle(once, call, value, finished).await
        }
        Ok(Err(error)) => {
            FinishAnyway::new(anyway, failed(claim)).await;
            Err(CallError::Work(error))
        }
        Err(panic) => {
            FinishAnyway::new(anyway, panicked(claim)).await;
            resume_unwind(panic)
        }
    }
}

async fn record(mut claim: Claim, outcome: Outcome) -> Finished {
    claim.record(outcome).await
}

/// An error is no value that could be replayed: under a guarantee of at most one effect, work
/// that may have had one must not run again.
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

/// The one answer that all callers agree on: our own, or that of whoever took over from us.
async fn settle<T, E>(
    once: &Once,
    call: &Call,
    value: T,
    finished: Finished,
) -> Result<T, CallError<E>>
where
    T: DeserializeOwned,
{
    let Finished::Superseded(successor) = finished else { return Ok(value) };
    match once.attach_to(call, successor).await {
        Attached::Nothing => Ok(value),
        Attached::Replay(replay) => Ok(from_outcome(&replay.outcome)?),
        Attached::Busy(busy) => Err(CallError::Refused(busy.into())),
        Attached::Refused(problem) => Err(CallError::Refused(problem)),
    }
}
