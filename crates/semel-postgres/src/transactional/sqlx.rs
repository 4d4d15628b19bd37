//! The same in a transaction of `sqlx`.

use std::fmt;

use bytes::Bytes;
use semel_core::cocommit::{Began, Call, Claimed, CommitError, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreError, StoreErrorKind, StoreResult, Version};
use sqlx::postgres::{PgConnection, PgDatabaseError, PgPool, PgRow, PgSeverity};
use sqlx::{AssertSqlSafe, Connection, Postgres, Row, Transaction};

use super::calls::Transactional;
use super::commit;
use super::swaps::Swaps;
use crate::failure;
use crate::row::{SwapIn, Swapped, There};
use crate::statement::{Parameter, Statement};

impl Transactional {
    /// Begins a call in a transaction on a connection of this pool of `sqlx`.
    ///
    /// The transaction is begun in a task of its own: `sqlx` up to 0.9.0, when a future of its
    /// `begin` is dropped in the middle, gives the connection back with the transaction open, and
    /// whoever gets it next works inside of that.
    ///
    /// Where the call does not begin, the transaction is rolled back.
    ///
    /// # Errors
    ///
    /// As [`Transactional::begin`], and `NotApplied` when the pool gives no connection.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the transaction is rolled back.
    pub async fn begin_sqlx(
        &self,
        pool: &PgPool,
        call: &Call,
    ) -> StoreResult<Began<SqlxWork<'static>>> {
        let pool = pool.clone();
        // What the default is does not matter: a duplicate must see what it waited for.
        let begin = async move { pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await };
        let begun = tokio::spawn(begin).await.map_err(|_| {
            StoreError::not_applied("the runtime ended before a transaction had begun")
        })?;
        self.begin_on_sqlx(begun.map_err(in_transaction)?, call).await
    }

    /// Begins a call in a transaction of `sqlx` that the caller has opened. It must not be a
    /// savepoint inside another one.
    ///
    /// Where the call does not begin, the transaction is rolled back. Whoever opens it must not
    /// drop that future in the middle: see [`Transactional::begin_sqlx`].
    ///
    /// # Errors
    ///
    /// As [`Transactional::begin_on`].
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the transaction is rolled back.
    pub async fn begin_on_sqlx<'c>(
        &self,
        mut transaction: Transaction<'c, Postgres>,
        call: &Call,
    ) -> StoreResult<Began<SqlxWork<'c>>> {
        match self.claim(&mut *transaction, call).await? {
            Ok(claimed) => {
                let (of, call) = (self.clone(), call.clone());
                Ok(Began::Fresh(SqlxWork { of, transaction, call, claimed }))
            }
            Err(settled) => {
                transaction.rollback().await.map_err(in_transaction)?;
                Ok(settled.without_work())
            }
        }
    }
}

/// A call that may run, and the transaction of `sqlx` that it runs in.
///
/// Dropped, the transaction is rolled back: neither rows nor claim are left.
#[must_use = "work that is dropped is rolled back"]
pub struct SqlxWork<'c> {
    of: Transactional,
    transaction: Transaction<'c, Postgres>,
    call: Call,
    claimed: Claimed,
}

impl<'c> SqlxWork<'c> {
    /// The transaction, to read and write the caller's rows in.
    pub const fn transaction(&mut self) -> &mut Transaction<'c, Postgres> {
        &mut self.transaction
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
    /// # Errors
    ///
    /// As there.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the transaction was committed or not: see [`SqlxWork::claimed`].
    pub async fn commit(self, outcome: Outcome) -> Result<Recorded, CommitError> {
        let Self { of, mut transaction, claimed, .. } = self;
        let recorded = of.record(&mut *transaction, &claimed, outcome, None).await;
        let recorded = recorded.map_err(CommitError::RolledBack)?;
        match transaction.commit().await {
            Ok(()) => {}
            Err(error) => commit::settled(&of, &claimed, told(error)).await?,
        }
        of.store.changed_here(claimed.key());
        Ok(recorded)
    }

    /// Takes the rows back and records the outcome alone: see [`Work::refuse`](super::Work::refuse).
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
        transaction.rollback().await.map_err(in_transaction)?;
        of.record_alone(&call, outcome).await
    }

    /// Takes rows and claim back: the key is free.
    ///
    /// # Errors
    ///
    /// `NotApplied` when the connection was lost; they are taken back all the same.
    pub async fn rollback(self) -> StoreResult<()> {
        self.transaction.rollback().await.map_err(in_transaction)
    }
}

impl fmt::Debug for SqlxWork<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlxWork").field("claimed", &self.claimed).finish_non_exhaustive()
    }
}

// ===== statements =====

impl Swaps for PgConnection {
    async fn swap(&mut self, statement: Statement) -> StoreResult<SwapIn> {
        let (sql, parameters) = statement.into_parts();
        // A statement with a name is parsed once, and stays with the session. Who keeps none (behind
        // a pooler) must not get one from us.
        let named = self.cached_statements_size() > 0;
        let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(named);
        for parameter in parameters {
            query = match parameter {
                Parameter::Text(text) => query.bind(text),
                Parameter::Bytes(bytes) => query.bind(bytes.map(Vec::from)),
                Parameter::Digests(digests) => query.bind(digests),
                Parameter::Int(number) => query.bind(number),
                Parameter::Bigint(number) => query.bind(number),
            };
        }
        let row = query.fetch_one(self).await.map_err(in_transaction)?;
        swap_in(&row)
            .map_err(|_| failure::damaged("an answer"))?
            .map_or(Ok(SwapIn::Busy), |swap| swap.outcome().map(SwapIn::Done))
    }
}

/// The columns; none where another transaction held the row all the time.
fn swap_in(row: &PgRow) -> Result<Option<Swapped>, sqlx::Error> {
    if row.try_get(6)? {
        return Ok(None);
    }
    let there = There {
        version: row.try_get(2)?,
        lease_left: row.try_get(3)?,
        keep_left: row.try_get(4)?,
        value: row.try_get::<Option<Vec<u8>>, _>(5)?.map(Bytes::from),
    };
    Ok(Some(Swapped { won: row.try_get(0)?, now: row.try_get(1)?, there }))
}

// ===== failures =====

/// Of a statement inside a transaction whose commit was not sent.
pub(crate) fn in_transaction(error: sqlx::Error) -> StoreError {
    let told = told(error);
    match told.kind() {
        StoreErrorKind::Unknown => {
            let message = "the transaction is rolled back: its connection was lost";
            StoreError::not_applied(message).caused_by(told)
        }
        _ => told,
    }
}

fn told(error: sqlx::Error) -> StoreError {
    let unknown = StoreError::unknown("the connection was lost before the server had answered");
    let Some(answer) = error.as_database_error() else { return unknown.caused_by(error) };
    // What the server said goes no further as it is: it may repeat our data.
    let concluded = answer.try_downcast_ref::<PgDatabaseError>().and_then(|answer| {
        let is_error = matches!(answer.severity(), PgSeverity::Error);
        failure::of_answer(answer.code(), is_error, answer.message())
    });
    concluded.unwrap_or(unknown)
}
