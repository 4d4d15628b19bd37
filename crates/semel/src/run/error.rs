//! Why a call gave no value.

use semel_core::OperationError;

use super::value::CodecError;
use crate::problem::Problem;

/// Why a call gave no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError<E> {
    /// The work ran and failed, now or, where its error
    /// [stands](crate::CallBuilder::failures), in the first call. If it does not stand, the key is
    /// free again, so a retry runs; under
    /// [`Guarantee::AtMostOnce`](crate::Guarantee::AtMostOnce) the call is in doubt instead.
    #[error("the work failed")]
    Work(#[source] E),
    /// The work did not run, or its answer can't be given.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// The input, the value or an error that stands can't be written as bytes. If it is the input,
    /// the work did not run. Else the work has run and that is recorded: it will not run again.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The call's operation has no name that could be recorded. The work did not run.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// The policy's guarantee is [`Transactional`](crate::Guarantee::Transactional), and this form
    /// has no transaction to hand to the work. The work did not run.
    #[error(
        "a function can't run under the guarantee `transactional`: it gets no transaction; use \
         the `Transactional` of the store's crate, or the layer for web services"
    )]
    NoTransaction,
}
