//! Beginning a call inside a transaction.

use semel_core::cocommit::{Began, Call, Claimed};
use semel_core::{Outcome, StoreResult};
use tokio_postgres::{Client, GenericClient, Transaction};

use super::calls::Transactional;
use super::owned::OwnedWork;
use super::swaps::Native;
use super::work::Work;
use crate::failure;

impl Transactional {
    /// Begins a call in a transaction that it opens on the caller's connection.
    ///
    /// Where the call does not begin, the transaction is rolled back.
    ///
    /// # Errors
    ///
    /// `NotApplied` when the connection is lost, when two transactions wait for each other, or when
    /// the connection's default isolation undoes who comes second: the whole transaction may be
    /// tried again. `Damaged` for a record that can't be read, `Refused` as for the store.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the transaction is rolled back.
    pub async fn begin<'a>(
        &self,
        client: &'a mut Client,
        call: &Call,
    ) -> StoreResult<Began<Work<'a>>> {
        let transaction = client.transaction().await.map_err(failure::in_transaction)?;
        self.begin_on(transaction, call).await
    }

    /// Begins a call in a transaction that the caller has opened, with what settings it wants. It
    /// must not be a savepoint inside another one.
    ///
    /// Where the call does not begin, the transaction is rolled back.
    ///
    /// # Errors
    ///
    /// As [`Transactional::begin`]. At stricter isolation than READ COMMITTED a duplicate that
    /// waited is undone by the server (`NotApplied`); tried again, it replays.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the transaction is rolled back.
    pub async fn begin_on<'a>(
        &self,
        transaction: Transaction<'a>,
        call: &Call,
    ) -> StoreResult<Began<Work<'a>>> {
        match self.claim(&mut Native(&transaction), call).await? {
            Ok(claimed) => Ok(Began::Fresh(Work::new(self, transaction, call, claimed))),
            Err(settled) => {
                transaction.rollback().await.map_err(failure::in_transaction)?;
                Ok(settled.without_work())
            }
        }
    }

    /// Begins a call in a transaction on a connection of the store's own, which the work owns: for
    /// doors whose handlers outlive every borrow.
    ///
    /// # Errors
    ///
    /// As [`Transactional::begin`], and `NotApplied` when no connection is free.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the connection is cut, and with it the transaction.
    pub async fn begin_owned(&self, call: &Call) -> StoreResult<Began<OwnedWork>> {
        OwnedWork::begin(self, call).await
    }

    // ===== by hand =====

    /// Makes the claim of a call in whatever transaction is open on `client`. For who commits by
    /// other means than [`Work`]: [`Transactional::record_in`] must come before that commit, as
    /// its last statement, and [`Transactional::settle`] after one whose acknowledgement was lost.
    ///
    /// # Errors
    ///
    /// As [`Transactional::begin_on`]. After an error the transaction can only be rolled back;
    /// after any answer it can go on.
    pub async fn claim_in<C>(&self, client: &C, call: &Call) -> StoreResult<Began<Claimed>>
    where
        C: GenericClient + Sync,
    {
        Ok(match self.claim(&mut Native(client), call).await? {
            Ok(claimed) => Began::Fresh(claimed),
            Err(settled) => settled.without_work(),
        })
    }

    /// Records what came of a claim, in the transaction that made it.
    ///
    /// # Errors
    ///
    /// `Refused(TooLarge)` for an outcome over the store's limit: nothing was sent, and the
    /// transaction can go on. After all others it can only be rolled back.
    pub async fn record_in<C>(
        &self,
        client: &C,
        claimed: &Claimed,
        outcome: Outcome,
    ) -> StoreResult<()>
    where
        C: GenericClient + Sync,
    {
        self.record_on(&mut Native(client), claimed, outcome).await
    }

    /// The same with a wait that ends before a statement of the store's own connections must.
    pub(super) fn on_own_connections(&self) -> Self {
        let most = self.store.settings().statement_timeout().mul_f64(0.9);
        self.clone().wait(self.wait.min(most))
    }
}
