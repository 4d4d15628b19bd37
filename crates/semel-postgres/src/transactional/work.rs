//! Work in a transaction on the caller's connection.

use std::fmt;

use semel_core::cocommit::{Call, Claimed, CommitError, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreResult, Version};
use tokio_postgres::Transaction;

use super::calls::Transactional;
use super::commit;
use super::swaps::Native;
use crate::failure;

/// A call that may run, and the transaction that it runs in.
///
/// Dropped, the transaction is rolled back: neither rows nor claim are left.
#[must_use = "work that is dropped is rolled back"]
pub struct Work<'a> {
    of: Transactional,
    transaction: Transaction<'a>,
    call: Call,
    claimed: Claimed,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        of: &Transactional,
        transaction: Transaction<'a>,
        call: &Call,
        claimed: Claimed,
    ) -> Self {
        Self { of: of.clone(), transaction, call: call.clone(), claimed }
    }

    /// The transaction, to read and write the caller's rows in.
    #[must_use]
    pub const fn transaction(&self) -> &Transaction<'a> {
        &self.transaction
    }

    /// The same, for savepoints.
    pub const fn transaction_mut(&mut self) -> &mut Transaction<'a> {
        &mut self.transaction
    }

    /// The claim. A copy of it outlives the work: with it, [`Transactional::settle`] tells what
    /// became of a commit that was dropped.
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
    /// When the acknowledgement of the commit is lost, what became of it is found out on a
    /// connection of the store's.
    ///
    /// # Errors
    ///
    /// [`CommitError::RolledBack`]: nothing is there. [`CommitError::Unknown`]: it could not be
    /// found out for half a minute.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the transaction was committed or not: see [`Work::claimed`].
    pub async fn commit(self, outcome: Outcome) -> Result<Recorded, CommitError> {
        let Self { of, transaction, claimed, .. } = self;
        let recorded = of.record(&mut Native(&transaction), &claimed, outcome, None).await;
        let recorded = recorded.map_err(CommitError::RolledBack)?;
        match transaction.commit().await {
            Ok(()) => {}
            Err(error) => commit::concluded(&of, &claimed, Some(error)).await?,
        }
        of.store.changed_here(claimed.key());
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
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the rows are taken back; the outcome may be recorded or not.
    pub async fn refuse(self, outcome: Outcome) -> StoreResult<Completed> {
        let Self { of, transaction, call, .. } = self;
        transaction.rollback().await.map_err(failure::in_transaction)?;
        of.record_alone(&call, outcome).await
    }

    /// Takes rows and claim back: the key is free.
    ///
    /// # Errors
    ///
    /// `NotApplied` when the connection was lost; they are taken back all the same.
    pub async fn rollback(self) -> StoreResult<()> {
        self.transaction.rollback().await.map_err(failure::in_transaction)
    }
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("claimed", &self.claimed).finish_non_exhaustive()
    }
}
