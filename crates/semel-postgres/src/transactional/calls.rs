//! Calls in transactions of one store.

use std::sync::Arc;
use std::time::Duration;

use semel_core::StoreResult;
use semel_core::cocommit::{Claimed, Fate};

use super::settle;
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
}
