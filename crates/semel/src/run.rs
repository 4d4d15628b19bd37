//! The function form: work that runs once and whose value is replayed.

use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::FutureExt;
use semel_core::{Doubt, Extent, Fingerprint, Form, Operation, Outcome, PartDigest, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::once::{Attached, Begun, Call, Claim, Finished, Once, Permit};
use crate::policy::{OnException, Policy};
use crate::problem::{Problem, ProblemKind};

/// The operation of a call that names none.
const UNNAMED: &str = "call";

/// A function call that is being put together.
#[derive(Debug)]
#[must_use = "nothing runs until run()"]
pub struct CallBuilder<'a> {
    once: &'a Once,
    key: &'a str,
    scope: Scope,
    operation: &'a str,
    policy: Arc<Policy>,
    input: Result<Option<Fingerprint>, CodecError>,
}

/// Why a call gave no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError<E> {
    /// The work ran and failed. Its key is free again, so a retry runs; under
    /// [`Guarantee::AtMostOnce`](crate::Guarantee::AtMostOnce) the call is in doubt instead.
    #[error("the work failed")]
    Work(#[source] E),
    /// The work did not run, or its answer can't be given.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// The input or the value can't be written as bytes. If it is the value, the work has run and
    /// that is recorded: it will not run again.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

/// A value that can't be written as CBOR.
#[derive(Debug, thiserror::Error)]
#[error("the {what} can't be written as bytes")]
pub struct CodecError {
    what: &'static str,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Once {
    /// A call of a function under a key, with the default policy, for nobody in particular.
    pub fn call<'a>(&'a self, key: &'a str) -> CallBuilder<'a> {
        CallBuilder {
            once: self,
            key,
            scope: Scope::anonymous(),
            operation: UNNAMED,
            policy: self.default_policy(),
            input: Ok(None),
        }
    }
}

impl<'a> CallBuilder<'a> {
    /// Whose key it is.
    pub fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// What the function does. The same key on another operation is refused.
    pub const fn operation(mut self, operation: &'a str) -> Self {
        self.operation = operation;
        self
    }

    /// How the call is treated.
    pub fn policy(self, policy: Arc<Policy>) -> Self {
        Self { policy, ..self }
    }

    /// What the function is called with: the same key with another input is refused.
    pub fn input(self, input: &impl Serialize) -> Self {
        let bytes = to_bytes("input", input);
        let input = bytes.map(|bytes| Some(input_fingerprint(&bytes)));
        Self { input, ..self }
    }

    /// Runs the work once, or gives the value that it had.
    ///
    /// A value is recorded as CBOR and comes back equal. An error is not recorded: the key is
    /// freed and a retry runs, unless the guarantee is at most one effect: then the call is in
    /// doubt. A panic goes on after the key was treated as the policy for
    /// exceptions says.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    ///
    /// # Cancel safety
    ///
    /// Dropped while the work runs, the work is cut off and its key stays held until the lease
    /// ends. Dropped after the work ended, its value is recorded all the same, in the background.
    pub async fn run<T, E, W>(self, work: W) -> Result<T, CallError<E>>
    where
        T: Serialize + DeserializeOwned,
        W: AsyncFnOnce(Permit) -> Result<T, E>,
    {
        let once = self.once;
        let call = self.build()?;
        match once.begin(&call).await {
            Begun::Fresh(claim) => run_claimed(once, &call, claim, work).await,
            Begun::Replay(replay) => Ok(from_outcome(&replay.outcome)?),
            Begun::Busy(busy) => Err(CallError::Refused(busy.into())),
            Begun::Refused(problem) => Err(CallError::Refused(problem)),
            Begun::Unprotected(_) => {
                work(Permit::unprotected(&call)).await.map_err(CallError::Work)
            }
        }
    }

    fn build<E>(self) -> Result<Call, CallError<E>> {
        let operation = Operation::new(self.operation).map_err(|_| {
            Problem::from(ProblemKind::KeyInvalid { fault: crate::KeyFault::Other })
        })?;
        let call = Call::new(&self.policy, &self.scope, self.key, operation)?;
        Ok(match self.input? {
            Some(input) => call.with_fingerprint(input),
            None => call,
        })
    }
}

async fn run_claimed<T, E, W>(
    once: &Once,
    call: &Call,
    claim: Claim,
    work: W,
) -> Result<T, CallError<E>>
where
    T: Serialize + DeserializeOwned,
    W: AsyncFnOnce(Permit) -> Result<T, E>,
{
    let result = match AssertUnwindSafe(work(claim.permit())).catch_unwind().await {
        Ok(result) => result,
        Err(panic) => {
            finish_exception(claim).await;
            resume_unwind(panic)
        }
    };
    match result {
        Ok(value) => {
            let (payload, written) = match to_bytes("value", &value) {
                Ok(bytes) => (Some(bytes), Ok(())),
                Err(error) => (None, Err(error)),
            };
            let finished = FinishAnyway::new(record(claim, value_outcome(payload))).await;
            written?;
            settle(once, call, value, finished).await
        }
        Err(error) => {
            FinishAnyway::new(failed(claim)).await;
            Err(CallError::Work(error))
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

async fn finish_exception(claim: Claim) {
    match claim.policy().on_exception() {
        OnException::Release => drop(claim.release().await),
        // A panic has no value to record; that it happened is the outcome.
        OnException::Record | OnException::Doubt => drop(claim.doubt(Doubt::Exception).await),
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

fn value_outcome(payload: Option<Bytes>) -> Outcome {
    let extent = if payload.is_some() { Extent::Whole } else { Extent::Partial };
    Outcome { form: Form::Value, extent, payload: payload.unwrap_or_default() }
}

fn from_outcome<T: DeserializeOwned>(outcome: &Outcome) -> Result<T, Problem> {
    let unavailable = || Problem::from(ProblemKind::ResponseUnavailable);
    if outcome.form != Form::Value || outcome.extent == Extent::Partial {
        return Err(unavailable());
    }
    minicbor_serde::from_slice(&outcome.payload).map_err(|_| unavailable())
}

fn to_bytes(what: &'static str, value: &impl Serialize) -> Result<Bytes, CodecError> {
    minicbor_serde::to_vec(value)
        .map(Bytes::from)
        .map_err(|source| CodecError { what, source: Box::new(source) })
}

fn input_fingerprint(bytes: &[u8]) -> Fingerprint {
    Fingerprint::builder().digest("input", PartDigest::of(bytes)).build()
}

// ===== FinishAnyway =====

/// Runs to its end even if its caller goes away: the rest of it moves to the background.
struct FinishAnyway<F: Future + Send + 'static>(Option<Pin<Box<F>>>);

impl<F: Future + Send + 'static> FinishAnyway<F> {
    fn new(work: F) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<F: Future + Send + 'static> Future for FinishAnyway<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let work = self.0.as_mut().expect("not polled again after its end");
        let output = ready!(work.as_mut().poll(cx));
        self.0 = None;
        Poll::Ready(output)
    }
}

impl<F: Future + Send + 'static> Drop for FinishAnyway<F> {
    fn drop(&mut self) {
        if let Some(rest) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { drop(rest.await) });
        }
    }
}
