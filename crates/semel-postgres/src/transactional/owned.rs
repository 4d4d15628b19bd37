//! Work in a transaction on a connection of the store's, which it owns.

use std::fmt;

use semel_core::cocommit::{Began, Call, Claimed, CommitError, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreError, StoreResult, Version};
use tokio_postgres::Client;

use super::calls::Transactional;
use super::commit;
use super::open::{Hold, Open};
use super::swaps::Native;
use super::tx::Tx;
use crate::failure;
use crate::timer;

/// A call that may run, with a transaction and connection of its own.
///
/// Dropped, the connection is cut and the transaction with it: neither rows nor claim are left.
/// The server's limit on a statement is that of the store: two fifths of its call timeout.
#[must_use = "work that is dropped is rolled back"]
pub struct OwnedWork {
    of: Transactional,
    open: Hold,
    call: Call,
    claimed: Claimed,
}

impl OwnedWork {
    pub(super) async fn begin(of: &Transactional, call: &Call) -> StoreResult<Began<Self>> {
        let of = of.on_own_connections();
        let open = Open::new(of.store.lend().await?);
        // What the default is does not matter: a duplicate must see what it waited for.
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
        open.client()?.batch_execute(begin).await.map_err(failure::in_transaction)?;
        match of.claim(&mut Native(open.client()?), call).await? {
            Ok(claimed) => {
                let open = Hold::of(open);
                Ok(Began::Fresh(Self { of, open, call: call.clone(), claimed }))
            }
            Err(settled) => {
                open.rollback().await?;
                Ok(settled.without_work())
            }
        }
    }

    /// The same connection for whoever does the work: it can be kept and cloned, as long as the
    /// work lasts.
    #[must_use]
    pub fn tx(&self) -> Tx {
        Tx::new(self.open.shared())
    }

    /// The connection, to read and write the caller's rows in its open transaction. Neither begin
    /// nor end one on it.
    ///
    /// # Errors
    ///
    /// None in practice: the connection is there until the work ends.
    pub fn client(&self) -> StoreResult<&Client> {
        self.open.shared().client()
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
    /// a later one was. A server that gives no answer within the store's call timeout is taken for
    /// one that was lost.
    ///
    /// # Errors
    ///
    /// As for [`Work::commit`](super::Work::commit), and [`CommitError::HandleKept`] as long as
    /// there is a [`Tx`].
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the connection is cut; the transaction was committed or not.
    pub async fn commit(self, outcome: Outcome) -> Result<Recorded, CommitError> {
        self.commit_or(outcome, None).await
    }

    /// The same with a smaller outcome for a store that takes no value so large.
    ///
    /// # Errors
    ///
    /// As for [`OwnedWork::commit`].
    ///
    /// # Cancel safety
    ///
    /// As for [`OwnedWork::commit`].
    pub async fn commit_or(
        self,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Result<Recorded, CommitError> {
        let Self { of, open, claimed, .. } = self;
        let Some(open) = open.alone() else { return Err(CommitError::HandleKept) };
        let client = open.client().map_err(CommitError::RolledBack)?;
        let limit = of.store.settings().call_timeout;
        // Cut off, it is dropped with its connection: nothing was committed.
        let recorded =
            timer::within(limit, of.record(&mut Native(client), &claimed, outcome, less)).await;
        let recorded = recorded.unwrap_or_else(|| Err(too_late("the outcome was not taken")));
        let recorded = recorded.map_err(CommitError::RolledBack)?;
        match timer::within(limit, client.batch_execute("COMMIT")).await {
            Some(Ok(())) => {
                of.store.acknowledged(open.close()).await.map_err(CommitError::Unknown)?;
            }
            lost => {
                // Whatever it is in, nobody else gets it.
                drop(open);
                let error = lost.and_then(Result::err);
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
        // Nothing is left either way, and the record does not need this connection.
        roll_back(open).await.ok();
        of.record_alone(&call, outcome).await
    }

    /// Takes rows and claim back: the key is free. Where there is still a [`Tx`], the connection is
    /// cut: what it is used for next must not be done outside of the transaction.
    ///
    /// # Errors
    ///
    /// `NotApplied` when the connection was lost; they are taken back all the same.
    pub async fn rollback(self) -> StoreResult<()> {
        roll_back(self.open).await
    }
}

async fn roll_back(open: Hold) -> StoreResult<()> {
    match open.alone() {
        Some(open) => open.rollback().await,
        None => Ok(()),
    }
}

fn too_late(what: &str) -> StoreError {
    StoreError::not_applied(format!("{what} in time: the connection was cut"))
}

impl fmt::Debug for OwnedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedWork").field("claimed", &self.claimed).finish_non_exhaustive()
    }
}
