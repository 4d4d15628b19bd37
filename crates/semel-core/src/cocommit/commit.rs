//! How a commit ends.

use crate::store_error::StoreError;

/// How much of an outcome a commit has recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// All of it.
    Whole,
    /// That the work ran, without its payload: that was over the store's limit. The rows are there
    /// and the work won't run again.
    InPart,
}

/// A commit that can't be reported as done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The transaction was rolled back: neither rows nor record are there, and the key is free.
    #[error("the transaction was rolled back")]
    RolledBack(#[source] StoreError),
    /// It is not known whether it was committed: rows and record are there together or not at all.
    /// The store can be asked again later.
    #[error("it is not known whether the transaction was committed")]
    Unknown(#[source] StoreError),
    /// Somebody still held a handle to the transaction after the work had ended, and may have been
    /// about to write: it was rolled back, and the key is free.
    #[error(
        "the transaction was rolled back: its handle was kept past the end of the work, so that \
         what was written may not have been all"
    )]
    HandleKept,
}
