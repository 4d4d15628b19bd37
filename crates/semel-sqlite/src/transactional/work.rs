//! Work in a transaction on the caller's connection.

use std::fmt;

use rusqlite::Connection;
use semel_core::cocommit::{Call, Claimed, CommitError, Fate, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreError, StoreErrorKind, StoreResult, Version};

use super::calls::Transactional;
use crate::writer::Borrowed;

/// A call that may run, and the transaction that it runs in.
///
/// Dropped, the transaction is rolled back: neither rows nor claim are left.
#[must_use = "work that is dropped is rolled back"]
pub struct Work<'c> {
    of: &'c Transactional,
    db: &'c Connection,
    open: Box<Borrowed<'c>>,
    call: Call,
    claimed: Claimed,
}

impl<'c> Work<'c> {
    pub(super) fn new(
        of: &'c Transactional,
        db: &'c Connection,
        open: Box<Borrowed<'c>>,
        call: &Call,
        claimed: Claimed,
    ) -> Self {
        Self { of, db, open, call: call.clone(), claimed }
    }

    /// The connection, to read and write the caller's rows in its open transaction. Neither begin
    /// nor end one on it.
    #[must_use]
    pub const fn connection(&self) -> &'c Connection {
        self.db
    }

    /// The claim.
    pub const fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// The claim's fencing token.
    #[must_use]
    pub const fn fence(&self) -> Version {
        self.claimed.fence()
    }

    /// Records the outcome and commits it together with the rows. One whose payload is over the
    /// store's limit is recorded without it: the rows count.
    ///
    /// # Errors
    ///
    /// [`CommitError::RolledBack`]: nothing is there. [`CommitError::Unknown`]: the disk failed
    /// while it committed; what can be read now may not be on it.
    pub fn commit(self, outcome: Outcome) -> Result<Recorded, CommitError> {
        self.commit_or(outcome, None)
    }

    /// The same with a smaller outcome for a store that takes no value so large.
    ///
    /// # Errors
    ///
    /// As for [`Work::commit`].
    pub fn commit_or(
        self,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Result<Recorded, CommitError> {
        let Self { of, db, mut open, claimed, .. } = self;
        let recorded = of.record(&mut open, &claimed, outcome, less);
        let recorded = recorded.map_err(CommitError::RolledBack)?;
        match open.commit() {
            Ok(()) => {}
            Err(error) if error.kind() == StoreErrorKind::Unknown => {
                return Err(failed(of, db, &claimed, error));
            }
            Err(error) => return Err(CommitError::RolledBack(error)),
        }
        of.changed(&claimed);
        Ok(recorded)
    }

    /// Takes the rows back and records the outcome alone: for a failure that is final.
    ///
    /// It is one more transaction. A duplicate that begins just between the two runs: then its
    /// outcome stands.
    ///
    /// # Errors
    ///
    /// The store's. The rows are taken back in any case.
    pub fn refuse(self, outcome: Outcome) -> StoreResult<Completed> {
        let Self { of, db, open, call, .. } = self;
        open.rollback()?;
        of.record_alone(db, &call, outcome)
    }

    /// Takes rows and claim back: the key is free.
    ///
    /// # Errors
    ///
    /// The store's, when the disk fails.
    pub fn rollback(self) -> StoreResult<()> {
        self.open.rollback()
    }
}

/// A commit that failed is gone if its record is; if that can be read, it may still not be on the
/// disk.
fn failed(
    of: &Transactional,
    db: &Connection,
    claimed: &Claimed,
    error: StoreError,
) -> CommitError {
    match of.settle(db, claimed) {
        Ok(Fate::RolledBack) => CommitError::RolledBack(error),
        Ok(Fate::Committed) | Err(_) => CommitError::Unknown(error),
    }
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("claimed", &self.claimed).finish_non_exhaustive()
    }
}
