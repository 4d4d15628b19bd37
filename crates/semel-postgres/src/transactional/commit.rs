//! How a commit ends.

use semel_core::cocommit::{Claimed, CommitError, Fate};
use semel_core::{StoreError, StoreErrorKind};
use tokio_postgres::Error;

use super::calls::Transactional;
use crate::failure::{self, Effect};

/// What a commit came to that was answered with this error, or not in time.
pub(super) async fn concluded(
    of: &Transactional,
    claimed: &Claimed,
    error: Option<Error>,
) -> Result<(), CommitError> {
    let error = match error {
        Some(error) => failure::of_statement(error, Effect::Grows).error,
        None => StoreError::unknown("the commit was not acknowledged in time"),
    };
    settled(of, claimed, error).await
}

/// The same by what may be concluded from the error alone.
pub(super) async fn settled(
    of: &Transactional,
    claimed: &Claimed,
    error: StoreError,
) -> Result<(), CommitError> {
    if error.kind() != StoreErrorKind::Unknown {
        // The server said why it did not commit.
        return Err(CommitError::RolledBack(error));
    }
    match of.settle(claimed).await {
        Ok(Fate::Committed) => Ok(()),
        Ok(Fate::RolledBack) => Err(CommitError::RolledBack(error)),
        Err(error) => Err(CommitError::Unknown(error)),
    }
}
