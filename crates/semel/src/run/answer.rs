//! What a recorded outcome says to who called.

use semel_core::{Form, Outcome};

use super::error::CallError;
use super::failures::{self, ErrorRule};
use super::value::{Codec, payload_of};
use crate::once::Call;
use crate::problem::ProblemKind;

/// The answer in an outcome: a value, or an error that stands.
pub(super) fn answer<T, E, C, R>(
    call: &Call,
    codec: &C,
    rule: &R,
    outcome: &Outcome,
) -> Result<T, CallError<E>>
where
    C: Codec<T>,
    R: ErrorRule<E>,
{
    match outcome.form {
        form if form == C::FORM => Ok(codec.read(payload_of(outcome)?)?),
        Form::Error => Err(failures::told(rule, outcome)),
        // This same door's, of another type.
        Form::Value | Form::Bytes => {
            Err(CallError::Refused(ProblemKind::ResponseUnavailable.into()))
        }
        _ => Err(CallError::Refused(call.of_another_door(outcome).into())),
    }
}
