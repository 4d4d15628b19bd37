//! What became of a function call, for who only looks.

use std::time::Duration;

use bytes::Bytes;
use semel_core::StoreTime;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::answer;
use super::builder::{CallBuilder, Prepared};
use super::error::CallError;
use super::failures::RecordedError;
use super::value::{Codec, Raw, Typed};
use crate::once::{Attached, Call, Once};
use crate::problem::ProblemKind;

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallStatus<T> {
    /// There is none: it never began, was released, or is forgotten.
    Absent,
    /// It runs.
    InFlight {
        /// When to look again; none where the policy leaves that out.
        retry_after: Option<Duration>,
    },
    /// Its owner is gone, or could not tell how it ended. Under
    /// [`InDoubtPolicy::Rerun`](crate::InDoubtPolicy::Rerun) the next caller runs it.
    InDoubt {
        /// When its owner was last heard of, by the store's clock.
        since: StoreTime,
    },
    /// It ended, with this value.
    Done(T),
}

/// How to look: once, or until it ended or the policy's time to wait is over.
enum Patience {
    Look,
    Wait,
}

impl<R: RecordedError> CallBuilder<'_, R> {
    /// What became of the call, without running or waiting for it. Nothing is written; one round
    /// trip, and none for a call that has no key and need not have one, which is
    /// [`Absent`](CallStatus::Absent).
    ///
    /// Operation and input are compared as they are when it runs, so that nobody is given the
    /// answer to another request.
    ///
    /// # Errors
    ///
    /// [`CallError::Work`] with an error that stands, where [`failures`](CallBuilder::failures)
    /// says how it is read. Otherwise why it can't be told: the key is not valid or belongs to
    /// another operation or input, the store failed, or what is recorded is not of type `T` or is
    /// an error that this call has no rule for
    /// ([`ResponseUnavailable`](crate::ProblemKind::ResponseUnavailable)).
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, if the store does not answer at once.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind.
    pub async fn peek<T>(self) -> Result<CallStatus<T>, CallError<R::Error>>
    where
        T: Serialize + DeserializeOwned,
    {
        self.status(Typed, &Patience::Look).await
    }

    /// As [`peek`](CallBuilder::peek), of a call in the byte form.
    ///
    /// # Errors
    ///
    /// As `peek`.
    ///
    /// # Panics
    ///
    /// As `peek`.
    ///
    /// # Cancel safety
    ///
    /// As `peek`.
    pub async fn peek_bytes(self) -> Result<CallStatus<Bytes>, CallError<R::Error>> {
        self.status(Raw, &Patience::Look).await
    }

    /// Waits for the call to end, as long as its policy says, without ever running it; then as
    /// [`peek`](CallBuilder::peek). Any number may wait, in any process. Nothing is written; one
    /// round trip where it need not wait.
    ///
    /// # Errors
    ///
    /// As `peek`.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind; the call goes on.
    pub async fn attach<T>(self) -> Result<CallStatus<T>, CallError<R::Error>>
    where
        T: Serialize + DeserializeOwned,
    {
        self.status(Typed, &Patience::Wait).await
    }

    /// As [`attach`](CallBuilder::attach), of a call in the byte form.
    ///
    /// # Errors
    ///
    /// As `peek`.
    ///
    /// # Panics
    ///
    /// As `attach`.
    ///
    /// # Cancel safety
    ///
    /// As `attach`.
    pub async fn attach_bytes(self) -> Result<CallStatus<Bytes>, CallError<R::Error>> {
        self.status(Raw, &Patience::Wait).await
    }

    async fn status<T, C: Codec<T>>(
        self,
        codec: C,
        patience: &Patience,
    ) -> Result<CallStatus<T>, CallError<R::Error>> {
        let (once, prepared, rule) = self.prepare()?;
        let Prepared::Keyed(call) = prepared else { return Ok(CallStatus::Absent) };
        match attached(once, &call, patience).await {
            Attached::Nothing => Ok(CallStatus::Absent),
            Attached::Replay(replay) => {
                answer(&call, &codec, &rule, &replay.outcome).map(CallStatus::Done)
            }
            Attached::Busy(busy) => Ok(CallStatus::InFlight { retry_after: busy.retry_after }),
            Attached::Refused(problem) => match problem.kind() {
                ProblemKind::InDoubt { since } => Ok(CallStatus::InDoubt { since: *since }),
                _ => Err(CallError::Refused(problem)),
            },
        }
    }
}

async fn attached(once: &Once, call: &Call, patience: &Patience) -> Attached {
    match patience {
        Patience::Look => once.look_at(call).await,
        Patience::Wait => once.attach(call).await,
    }
}
