//! Operations that can be called through several doors.

use std::fmt;

use bytes::Bytes;
use http::request;
use semel::core::protocol::Seen;
use semel::core::{State, Touch};
use semel::{
    Call, Extent, Fingerprint as Digests, KeyFault, Operation, Outcome, PartDigest, ProblemKind,
};

use crate::door::Door;
use crate::stored::RecordedAnswer;

/// The part of a fingerprint that all doors of an operation take alike.
pub const SHARED_INPUT: &str = "input";

/// How operations that can be called through several doors are the same through each of them.
///
/// Without it a key that was used through one door is refused by all others (`key_reused`), for
/// they can neither tell whether it is the same request nor give its answer. With it, what a request asks for is compared in a form that all doors can tell, beside
/// the door's own parts, and an answer of another door is given as one of this door's.
pub trait SharedOperations: fmt::Debug + Send + Sync + 'static {
    /// What a request asks for, as all doors of the operation can tell it: equal bytes for equal
    /// requests, whichever door they come through. None where the operation is not shared, or the
    /// request can't be read; then its key is this door's alone.
    fn input(&self, operation: &Operation, head: &request::Parts, body: &Bytes) -> Option<Bytes>;

    /// What another door recorded, as an answer of this one. None where it can't be said here; then
    /// the key is refused (`key_reused`). The outcome's [`Form`](semel::Form) says which door it was,
    /// a function's among them. It is asked only about requests of which the input is the same.
    fn translate(&self, operation: &Operation, outcome: &Outcome) -> Option<RecordedAnswer>;
}

/// What of a request is compared: the door's own parts, and the shared one.
pub(crate) fn fingerprint(
    door: &Door,
    operation: &Operation,
    head: &request::Parts,
    body: &Bytes,
) -> Result<Option<Digests>, KeyFault> {
    let own = door.settings.fingerprint.of(head, body)?;
    let input = || door.settings.shared.as_ref()?.input(operation, head, body);
    Ok(own.map(|own| match input() {
        Some(input) => with_input(&own, &input),
        None => own,
    }))
}

fn with_input(own: &Digests, input: &Bytes) -> Digests {
    let add = |all: semel::core::FingerprintBuilder, (name, digest): (_, &PartDigest)| {
        let name: &semel::core::PartName = name;
        all.digest(name.as_str().to_owned(), *digest)
    };
    own.parts().fold(Digests::builder(), add).part(SHARED_INPUT, input).build()
}

/// The answer to a call that another door recorded, or why there is none.
pub(crate) async fn translate(
    door: &Door,
    call: &Call,
    outcome: &Outcome,
) -> Result<RecordedAnswer, ProblemKind> {
    let elsewhere = call.of_another_door(outcome);
    let ProblemKind::KeyReused { .. } = elsewhere else { return Err(elsewhere) };
    let Some(shared) = &door.settings.shared else { return Err(elsewhere) };
    if !is_same_input(door, call, outcome).await? {
        return Err(elsewhere);
    }
    if outcome.extent == Extent::Partial {
        return Err(ProblemKind::ResponseUnavailable);
    }
    shared.translate(call.operation(), outcome).ok_or(elsewhere)
}

/// Whether what the other door was asked for is known to be what this one was. Parts that only
/// one side took were not compared when the call began, so this looks for itself.
async fn is_same_input(door: &Door, call: &Call, outcome: &Outcome) -> Result<bool, ProblemKind> {
    let read = door.once.store().read(call.key(), Touch::No).await;
    let snapshot = read.map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, "the store failed");
        ProblemKind::StoreUnavailable
    })?;
    let seen = Seen::of(&call.key().digest(), &snapshot);
    let record = seen.ok().and_then(|seen| Some(seen.record?.record));
    Ok(record.is_some_and(|record| {
        let recorded = record.claim.fingerprint.as_ref().and_then(input_of);
        let ours = call.fingerprint().and_then(input_of);
        record.state == State::Done(outcome.clone()) && ours.is_some() && ours == recorded
    }))
}

fn input_of(digests: &Digests) -> Option<&PartDigest> {
    digests.parts().find(|(name, _)| name.as_str() == SHARED_INPUT).map(|(_, digest)| digest)
}
