//! Values as bytes, and back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use semel_core::{Extent, Form, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::problem::{Problem, ProblemKind};

/// A value that can't be written as CBOR.
#[derive(Debug, thiserror::Error)]
#[error("the {what} can't be written as bytes")]
pub struct CodecError {
    what: &'static str,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// A value's bytes. A value that panics over it is one that can't be written: that work was done
/// must be recorded all the same.
pub(super) fn to_bytes(what: &'static str, value: &impl Serialize) -> Result<Bytes, CodecError> {
    let written = catch_unwind(AssertUnwindSafe(|| minicbor_serde::to_vec(value)));
    let failed = |source| CodecError { what, source };
    match written {
        Ok(Ok(bytes)) => Ok(Bytes::from(bytes)),
        Ok(Err(error)) => Err(failed(Box::new(error))),
        Err(_) => Err(failed("its Serialize panicked".into())),
    }
}

/// What is recorded of a value; that it had one, where it could not be written.
pub(super) fn value_outcome(payload: Option<Bytes>) -> Outcome {
    let extent = if payload.is_some() { Extent::Whole } else { Extent::Partial };
    Outcome { form: Form::Value, extent, payload: payload.unwrap_or_default() }
}

/// What is recorded of work that panicked, where that is its answer.
pub(crate) fn panic_outcome() -> Outcome {
    Outcome { form: Form::Error, extent: Extent::Partial, payload: Bytes::new() }
}

/// The value in an outcome.
pub(super) fn from_outcome<T: DeserializeOwned>(outcome: &Outcome) -> Result<T, Problem> {
    let unavailable = || Problem::from(ProblemKind::ResponseUnavailable);
    if outcome.form != Form::Value || outcome.extent == Extent::Partial {
        return Err(unavailable());
    }
    minicbor_serde::from_slice(&outcome.payload).map_err(|error| {
        tracing::warn!(%error, "a recorded value is none of the type that was asked for");
        unavailable()
    })
}
