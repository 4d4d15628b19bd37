//! Why a delivery came to nothing.

use crate::once::NotCommitted;
use crate::policy::PolicyError;
use crate::problem::Problem;

/// Why a delivery came to nothing. Whatever it is, the message must not be acknowledged: put it
/// back, so that it comes again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InboxError<E> {
    /// The work ran and failed. No mark is left but a count, so the next delivery runs; under
    /// [`Guarantee::AtMostOnce`](crate::Guarantee::AtMostOnce) the message is in doubt instead.
    #[error("the work failed, at attempt {attempts}")]
    Failed {
        /// Why.
        #[source]
        error: E,
        /// How often the message was tried, this time included: for a pause that grows.
        attempts: u32,
    },
    /// The work panicked; told only where messages come in batches, for a panic goes on otherwise.
    #[error("the work panicked")]
    Panicked,
    /// The store can't be reached, is full, or gave an answer that can't be trusted. The work did
    /// not run; or it failed, or must not run again, and that could not be written down.
    #[error(transparent)]
    Unavailable(Problem),
    /// The transaction of the work and its record is not known to be committed.
    #[error("the transaction is not known to be committed: {0:?}")]
    NotCommitted(NotCommitted),
    /// The work was to run in a transaction under a guarantee that has none, or without one under
    /// [`Guarantee::Transactional`](crate::Guarantee::Transactional). It did not run.
    #[error(
        "the guarantee `transactional` goes with `run_in_transaction` or \
         `run_each_in_transaction`, and any other one with `run` or `run_each`"
    )]
    WrongGuarantee,
}

/// A setting of an inbox that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InboxSettingError {
    /// A message that may not be tried at all.
    #[error("a message must be tried at least once; the limit of attempts is 0")]
    NoAttempts,
    /// The policy, with what the inbox changes in it.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// How long attempts are counted is zero or longer than ten years.
    #[error("attempts must be remembered for more than zero and at most ten years")]
    AttemptsTimeToLive,
    /// The engine's store has no transactions.
    #[error(
        "the guarantee `transactional` needs an engine over a store with transactions: \
         Once::with_transactions"
    )]
    NoTransactions,
}
