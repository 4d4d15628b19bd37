//! Why an operation stops in the middle of its transaction.

use rusqlite::Error;
use semel_core::StoreError;

/// Why an operation stopped.
#[derive(Debug)]
pub(crate) enum Halt {
    /// It is refused, and has changed nothing. The transaction goes on.
    Refused(StoreError),
    /// SQLite failed it, and may have left half of a change: the transaction must be undone.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
