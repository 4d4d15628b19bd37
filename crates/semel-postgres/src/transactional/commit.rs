//! How a commit ends.

use semel_core::StoreErrorKind;
use semel_core::cocommit::{Claimed, CommitError, Fate};
use tokio_postgres::Error;

use super::begin::Transactional;
use crate::failure::{self, Effect};

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
