//! How a commit ends.

use semel_core::cocommit::{Claimed, Fate};
use semel_core::{StoreError, StoreErrorKind};
use tokio_postgres::Error;

use super::begin::Transactional;
use crate::failure::{self, Effect};

/// A commit that can't be reported as done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The transaction was rolled back: neither rows nor record are there, and the key is free.
    #[error("the transaction was rolled back")]
    RolledBack(#[source] StoreError),
    /// It is not known whether it was committed. Ask [`Transactional::settle`] again later: rows
    /// and record are there together or not at all.
    #[error("it is not known whether the transaction was committed")]
    Unknown(#[source] StoreError),
}

/// How much of an outcome a commit has recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// All of it.
    Whole,
    /// That the work ran, without its payload: that was over the store's limit. The rows are there
    /// and the work won't run again.
    InPart,
}

impl CommitError {
    /// Of an error before the commit was sent.
    pub(super) fn before(error: StoreError) -> Self {
        Self::RolledBack(error)
    }
}

/// What a commit came to that was answered with an error, or not at all.
pub(super) async fn concluded(
    of: &Transactional,
    claimed: &Claimed,
    error: Error,
) -> Result<(), CommitError> {
    let conclusion = failure::of_statement(error, Effect::Grows);
    if conclusion.error.kind() != StoreErrorKind::Unknown {
        // The server said why it did not commit.
        return Err(CommitError::RolledBack(conclusion.error));
    }
    match of.settle(claimed).await {
        Ok(Fate::Committed) => Ok(()),
        Ok(Fate::RolledBack) => Err(CommitError::RolledBack(conclusion.error)),
        Err(error) => Err(CommitError::Unknown(error)),
    }
}
