//! Work in a transaction on a connection of the store's, which it owns.

use std::fmt;

use deadpool::managed::Object;
use semel_core::cocommit::{Began, Call, Claimed, CommitError, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreError, StoreResult, Version};
use tokio_postgres::Client;

use super::begin::Transactional;
use super::commit;
use crate::failure;
use crate::pool::Loan;

/// A call that may run, with a transaction and connection of its own.
///
/// Dropped, the connection is cut and the transaction with it: neither rows nor claim are left.
/// The server's limit on a statement is that of the store: two fifths of its call timeout.
#[must_use = "work that is dropped is rolled back"]
pub struct OwnedWork {
    of: Transactional,
    open: Open,
    call: Call,
    claimed: Claimed,
}

/// A connection with an open transaction. It goes back to the pool only after that has ended.
struct Open(Option<Loan>);

impl OwnedWork {
    pub(super) async fn begin(of: &Transactional, call: &Call) -> StoreResult<Began<Self>> {
        let of = of.on_own_connections();
        let open = Open(Some(of.store.lend().await?));
        // What the default is does not matter: a duplicate must see what it waited for.
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
        open.client()?.batch_execute(begin).await.map_err(failure::in_transaction)?;
        match of.claim(open.client()?, call).await? {
            Ok(claimed) => Ok(Began::Fresh(Self { of, open, call: call.clone(), claimed })),
            Err(settled) => {
                open.rollback().await?;
                Ok(settled.without_work())
            }
        }
    }

    /// The connection, to read and write the caller's rows in its open transaction. Neither begin
    /// nor end one on it.
    ///
    /// # Errors
    ///
    /// None in practice: the connection is there until the work ends.
    pub fn client(&self) -> StoreResult<&Client> {
        self.open.client()
    }

    /// The claim: see [`Work::claimed`](super::Work::claimed).
    pub const fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// The claim's fencing token.
    #[must_use]
    pub const fn fence(&self) -> Version {
        self.claimed.fence()
    }

    /// Records the outcome and commits it together with the rows, as
    /// [`Work::commit`](super::Work::commit) does.
    ///
    /// A commit that the synchronous standby did not acknowledge is no commit yet: it counts once
    /// a later one was.
    ///
    /// # Errors
    ///
    /// As for [`Work::commit`](super::Work::commit).
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the connection is cut; the transaction was committed or not.
    pub async fn commit(self, outcome: Outcome) -> Result<Recorded, CommitError> {
        let Self { of, open, claimed, .. } = self;
        let client = open.client().map_err(CommitError::RolledBack)?;
        let recorded =
            of.record(client, &claimed, outcome).await.map_err(CommitError::RolledBack)?;
        match client.batch_execute("COMMIT").await {
            Ok(()) => of.store.acknowledged(open.close()).await.map_err(CommitError::Unknown)?,
            Err(error) => {
                // Whatever it is in, nobody else gets it.
                drop(open);
                commit::concluded(&of, &claimed, error).await?;
            }
        }
        of.store.changed_here(claimed.key());
        Ok(recorded)
    }

    /// Takes the rows back and records the outcome alone: see
    /// [`Work::refuse`](super::Work::refuse).
    ///
    /// # Errors
    ///
    /// The store's. The rows are taken back in any case.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the rows are taken back; the outcome may be recorded or not.
    pub async fn refuse(self, outcome: Outcome) -> StoreResult<Completed> {
        let Self { of, open, call, .. } = self;
        open.rollback().await?;
        of.record_alone(&call, outcome).await
    }

    /// Takes rows and claim back: the key is free.
    ///
    /// # Errors
    ///
    /// `NotApplied` when the connection was lost; they are taken back all the same.
    pub async fn rollback(self) -> StoreResult<()> {
        self.open.rollback().await
    }
}

impl fmt::Debug for OwnedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedWork").field("claimed", &self.claimed).finish_non_exhaustive()
    }
}

impl Open {
    fn client(&self) -> StoreResult<&Client> {
        let loan = self.0.as_ref().ok_or_else(|| StoreError::not_applied("the work has ended"))?;
        Ok(loan.client())
    }

    async fn rollback(self) -> StoreResult<()> {
        let ended = self.client()?.batch_execute("ROLLBACK").await;
        ended.map_err(failure::in_transaction)?;
        drop(self.close());
        Ok(())
    }

    /// The connection, after its transaction has ended.
    fn close(mut self) -> Option<Loan> {
        self.0.take()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(loan) = self.0.take() {
            Object::take(loan).cut();
        }
    }
}
