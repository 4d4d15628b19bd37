//! Which errors of a function stand as its answer.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;
use semel_core::Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CallError;
use super::value::{CodecError, from_bytes, payload_of, to_bytes};
use crate::policy::Finality;
use crate::problem::{Problem, ProblemKind};

/// What is made of the errors of a function's work. There are two: [`AllTransient`], which takes
/// every type, and [`Judged`].
pub trait ErrorRule<E>: sealed::ErrorRule<E> {}

/// No error stands: each frees its key for a retry. The rule of a call that names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllTransient;

/// Those errors stand that a function calls final: see
/// [`CallBuilder::failures`](crate::CallBuilder::failures).
#[derive(Clone, Copy)]
pub struct Judged<E, F> {
    judge: F,
    errors: PhantomData<fn(&E)>,
}

impl<E, F> Judged<E, F> {
    pub(super) const fn by(judge: F) -> Self {
        Self { judge, errors: PhantomData }
    }
}

impl<E, F> fmt::Debug for Judged<E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judged(..)")
    }
}

/// The error that comes with what is recorded: that of the rule, or none where no error stands.
pub trait RecordedError: ErrorRule<Self::Error> {
    /// Its type.
    type Error;
}

impl RecordedError for AllTransient {
    type Error = Infallible;
}

impl<E, F> RecordedError for Judged<E, F>
where
    E: Serialize + DeserializeOwned,
    F: Fn(&E) -> Finality,
{
    type Error = E;
}

impl<E> ErrorRule<E> for AllTransient {}

impl<E, F> ErrorRule<E> for Judged<E, F>
where
    E: Serialize + DeserializeOwned,
    F: Fn(&E) -> Finality,
{
}

/// What the outside can't implement or call.
pub(super) mod sealed {
    use super::{Bytes, CodecError, Finality, Outcome, Problem};

    pub trait ErrorRule<E> {
        fn judge(&self, error: &E) -> Finality;

        /// The bytes of an error that stands.
        fn to_bytes(&self, error: &E) -> Result<Bytes, CodecError>;

        /// A recorded error.
        fn read(&self, outcome: &Outcome) -> Result<E, Problem>;
    }
}

impl<E> sealed::ErrorRule<E> for AllTransient {
    fn judge(&self, _: &E) -> Finality {
        Finality::Transient
    }

    fn to_bytes(&self, _: &E) -> Result<Bytes, CodecError> {
        // It calls no error final, so that there are none to be written.
        Ok(Bytes::new())
    }

    fn read(&self, _: &Outcome) -> Result<E, Problem> {
        // Recorded by a caller with another rule: this one could not make an error of it.
        Err(ProblemKind::ResponseUnavailable.into())
    }
}

impl<E, F> sealed::ErrorRule<E> for Judged<E, F>
where
    E: Serialize + DeserializeOwned,
    F: Fn(&E) -> Finality,
{
    fn judge(&self, error: &E) -> Finality {
        (self.judge)(error)
    }

    fn to_bytes(&self, error: &E) -> Result<Bytes, CodecError> {
        to_bytes("error", error)
    }

    fn read(&self, outcome: &Outcome) -> Result<E, Problem> {
        from_bytes(payload_of(outcome)?)
    }
}

/// A recorded error, as a call tells it.
pub(super) fn told<E, R: ErrorRule<E>>(rule: &R, outcome: &Outcome) -> CallError<E> {
    match rule.read(outcome) {
        Ok(error) => CallError::Work(error),
        Err(problem) => CallError::Refused(problem),
    }
}
