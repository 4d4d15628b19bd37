//! Answers as bytes, and back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use semel_core::{Extent, Form, Outcome};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};

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
pub(crate) fn to_bytes(what: &'static str, value: &impl Serialize) -> Result<Bytes, CodecError> {
    let written = catch_unwind(AssertUnwindSafe(|| minicbor_serde::to_vec(value)));
    let failed = |source| CodecError { what, source };
    match written {
        Ok(Ok(bytes)) => Ok(Bytes::from(bytes)),
        Ok(Err(error)) => Err(failed(Box::new(error))),
        Err(_) => Err(failed("its Serialize panicked".into())),
    }
}

/// The value of these bytes, which must be all of it: a longer list read as a shorter one would
/// not be the value that was recorded.
pub(super) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut from = minicbor_serde::Deserializer::new(bytes);
    let value = T::deserialize(&mut from).and_then(|value| {
        if from.decoder().position() == bytes.len() {
            return Ok(value);
        }
        Err(minicbor_serde::error::DecodeError::custom("there is more of it"))
    });
    value.map_err(|error| {
        tracing::warn!(%error, "what is recorded is not of the type that was asked for");
        ProblemKind::ResponseUnavailable.into()
    })
}

/// The payload of an outcome that was kept whole.
pub(super) fn payload_of(outcome: &Outcome) -> Result<&Bytes, Problem> {
    match outcome.extent {
        Extent::Whole => Ok(&outcome.payload),
        Extent::Partial => Err(ProblemKind::ResponseUnavailable.into()),
    }
}

/// What is recorded of an answer; that there was one, where it could not be written.
pub(super) fn outcome_of(form: Form, payload: Option<Bytes>) -> Outcome {
    let extent = if payload.is_some() { Extent::Whole } else { Extent::Partial };
    Outcome { form, extent, payload: payload.unwrap_or_default() }
}

/// What is recorded of work that panicked, where that is its answer: that it ended.
pub(crate) fn panic_outcome() -> Outcome {
    outcome_of(Form::Error, None)
}

// ===== Codec =====

/// The form that a function's answer is recorded in.
pub(super) trait Codec<T> {
    const FORM: Form;

    fn to_bytes(&self, value: &T) -> Result<Bytes, CodecError>;

    fn read(&self, payload: &Bytes) -> Result<T, Problem>;
}

/// Values, by serde.
pub(super) struct Typed;

impl<T: Serialize + DeserializeOwned> Codec<T> for Typed {
    const FORM: Form = Form::Value;

    fn to_bytes(&self, value: &T) -> Result<Bytes, CodecError> {
        to_bytes("value", value)
    }

    fn read(&self, payload: &Bytes) -> Result<T, Problem> {
        from_bytes(payload)
    }
}

/// Bytes, as they are.
pub(super) struct Raw;

impl Codec<Bytes> for Raw {
    const FORM: Form = Form::Bytes;

    fn to_bytes(&self, value: &Bytes) -> Result<Bytes, CodecError> {
        Ok(value.clone())
    }

    fn read(&self, payload: &Bytes) -> Result<Bytes, Problem> {
        Ok(payload.clone())
    }
}
