//! Beginning a call inside a transaction.

use std::sync::Arc;
use std::time::Duration;

use semel_core::cocommit::{Began, Call, Claimed, Fate};
use semel_core::{Outcome, StoreResult};
use tokio_postgres::{Client, GenericClient, Transaction};

use super::owned::OwnedWork;
use super::settle;
use super::swaps::Native;
use super::work::Work;
use crate::failure;
use crate::store::PostgresStore;

/// Calls whose record commits together with the rows that their work writes: exactly one effect,
/// as long as that effect is in this database.
///
/// The claim is a row that only its transaction sees. A concurrent duplicate waits for that
/// transaction to end, and then replays its outcome or begins itself. Whatever ends the
/// transaction before its commit (an error, a panic, a crash of either side) takes claim and rows
/// back together.
///
/// A first call is two statements beside the caller's own, the claim and the outcome; a replay is
/// one. The store's tables must be in the database that the rows are in.
///
/// ```no_run
/// use semel_core::cocommit::{Began, Call};
/// use semel_core::{Extent, Form, Outcome};
/// use semel_postgres::{PostgresStore, Transactional};
///
/// # async fn show(
/// #     store: PostgresStore, client: &mut tokio_postgres::Client, call: Call,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let transactional = Transactional::new(&store);
/// match transactional.begin(client, &call).await? {
///     Began::Fresh(work) => {
///         let sql = "INSERT INTO orders (item) VALUES ($1) RETURNING id";
///         let id: i64 = work.transaction().query_one(sql, &[&"book"]).await?.get(0);
///         let payload = id.to_string().into();
///         work.commit(Outcome { form: Form::Bytes, extent: Extent::Whole, payload }).await?;
///     }
///     Began::Replay(outcome) => println!("it ran: {outcome:?}"),
///     refused => println!("not now, or not so: {refused:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Transactional {
    pub(super) store: Arc<PostgresStore>,
    pub(super) wait: Duration,
}

impl Transactional {
    /// Calls over the tables of this store. A duplicate waits as long as the store's lock timeout.
    #[must_use]
    pub fn new(store: &PostgresStore) -> Self {
        Self { wait: store.settings().lock_timeout, store: Arc::new(store.clone()) }
    }

    /// How long a duplicate waits for the transaction of the call before it, at the server.
    /// Default: the store's lock timeout, 1 s unless it was set. At least a millisecond.
    ///
    /// It holds its connection meanwhile. A `statement_timeout` of that connection which is
    /// shorter ends the wait with an error, and its transaction with it: [`begin_owned`] never
    /// waits that long.
    ///
    /// [`begin_owned`]: Transactional::begin_owned
    #[must_use]
    pub fn wait(self, limit: Duration) -> Self {
        Self { wait: limit.max(Duration::from_millis(1)), ..self }
    }

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

    /// What became of a transaction whose commit was not acknowledged, by its own record: on a
    /// connection of the store's, after that transaction has ended at the server.
    ///
    /// It tries for half a minute. A transaction whose connection was lost on a network that
    /// reports nothing ends at the server only after its keepalive, or after its
    /// `idle_in_transaction_session_timeout`: set one.
    ///
    /// # Errors
    ///
    /// `Unknown` when the transaction goes on or the server can't be reached for that long: ask
    /// again later. `Damaged` for a record that can't be read.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing, and can be dropped and called again at any time.
    pub async fn settle(&self, claimed: &Claimed) -> StoreResult<Fate> {
        settle::settle(&self.store, claimed).await
    }

    /// The same with a wait that ends before a statement of the store's own connections must.
    pub(super) fn on_own_connections(&self) -> Self {
        let most = self.store.settings().statement_timeout().mul_f64(0.9);
        self.clone().wait(self.wait.min(most))
    }
}
