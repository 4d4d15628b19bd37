//! The other half of fencing, in the caller's own transaction.

#[cfg(feature = "sqlx")]
mod sqlx;

use semel_core::{Fence, GateAnswer, GateError, Key, StoreError, StoreResult};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, GenericClient, Row, Transaction};

use crate::failure;
use crate::sql::quoted;
use crate::transactional::Tx;

/// The most that a column of type `bigint` holds.
const MOST: Fence = Fence::new(i64::MAX as u64);

/// A gate for rows under locks: in the transaction that writes them, it refuses a fence that is
/// smaller than the last one seen.
///
/// A helper table has one row for each resource, with the highest fence:
///
/// ```sql
/// CREATE TABLE IF NOT EXISTS semel_fence (
///     resource text COLLATE "C" PRIMARY KEY,
///     fence    bigint NOT NULL CHECK (fence >= 0),
///     seen_at  timestamptz NOT NULL DEFAULT now()
/// );
/// ```
///
/// The check takes the lock of that row, and has it until the transaction ends: a later holder's
/// check waits for it, so that its writes come after, or came before and is seen. What was
/// remembered commits and rolls back with the rows. A holder that stands still in its transaction
/// keeps the later one waiting: `idle_in_transaction_session_timeout` and `lock_timeout` bound that.
///
/// ```no_run
/// # async fn show(db: &mut tokio_postgres::Client, fence: semel_core::Fence)
/// #     -> Result<(), Box<dyn std::error::Error>> {
/// use semel_core::GateAnswer;
/// use semel_postgres::FenceGate;
///
/// let gate = FenceGate::new();
/// gate.create_table(db).await?;                             // once, or by the SQL above
///
/// let tx = db.transaction().await?;
/// match gate.check(&tx, "orders:42", fence).await? {        // the guard's resource and fence
///     GateAnswer::Passed => {
///         tx.execute("UPDATE totals SET cents = cents + 1999", &[]).await?;
///         tx.commit().await?;
///     }
///     GateAnswer::Refused { seen } => {
///         tx.rollback().await?;
///         eprintln!("fence {seen} was here: the lock is lost");
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// A table of which each row has its own lock needs no gate: give it a column for the fence, and
/// make the comparison a condition of the write. No row changed means that the holder came late,
/// or that there is no such row.
///
/// ```no_run
/// # async fn show(db: &tokio_postgres::Client, fence: i64) -> Result<(), tokio_postgres::Error> {
/// // ALTER TABLE orders ADD COLUMN fence bigint NOT NULL DEFAULT 0;
/// let sql = "UPDATE orders SET state = $2, fence = $1 WHERE id = $3 AND fence <= $1";
/// let changed = db.execute(sql, &[&fence, &"paid", &42_i64]).await?;
/// # Ok(())
/// # }
/// ```
///
/// Rows are kept until somebody removes them: those of resources that nobody has worked on for longer
/// than any work can stand still and go on, machines asleep and queues included.
///
/// ```sql
/// DELETE FROM semel_fence WHERE seen_at < now() - interval '1 year';
/// ```
#[derive(Debug, Clone)]
pub struct FenceGate {
    table: String,
}

impl FenceGate {
    /// A gate over table `semel_fence`, where the connection's `search_path` finds it.
    #[must_use]
    pub fn new() -> Self {
        Self { table: quoted("semel_fence") }
    }

    /// A gate over a table of this name in this schema; both are taken as they are. All who guard
    /// the same resource must name the same one.
    #[must_use]
    pub fn in_table(schema: &str, table: &str) -> Self {
        Self { table: format!("{}.{}", quoted(schema), quoted(table)) }
    }

    /// Makes the table where it is not there yet. Several may do so at once.
    ///
    /// # Errors
    ///
    /// The table is not sure to be there: the server failed, or does not permit it.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the table may be made or not.
    pub async fn create_table(&self, db: &(impl GenericClient + Sync)) -> StoreResult<()> {
        // Two that make a table at once would get in each other's way in the catalogue: hence the
        // lock, which ends with the transaction that these two statements are.
        let sql = format!(
            "SELECT pg_advisory_xact_lock(hashtextextended('semel_fence', 0)); \
             CREATE TABLE IF NOT EXISTS {} (\
                 resource text COLLATE \"C\" PRIMARY KEY, \
                 fence bigint NOT NULL CHECK (fence >= 0), \
                 seen_at timestamptz NOT NULL DEFAULT now())",
            self.table
        );
        db.batch_execute(&sql).await.map_err(failure::in_transaction)
    }

    /// Shows a fence, before the writes that it guards and in their transaction. (For one of
    /// [`Tx`]: [`FenceGate::check_tx`].)
    ///
    /// Where it is refused, roll back. One statement, one round trip, without a name. Inside a
    /// savepoint that is rolled back, the lock goes with it: check outside.
    ///
    /// # Errors
    ///
    /// Whatever it is, the fence has not passed: roll back. [`GateError::Resource`] and
    /// [`GateError::FenceTooLarge`] (over 2^63 - 1) before anything is asked;
    /// [`GateError::Store`] when the statement fails. Under `REPEATABLE READ` and `SERIALIZABLE`
    /// that is so (`NotApplied`) where another has committed a check since this transaction began:
    /// try the transaction again.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the fence may be remembered in the transaction, which goes on. Roll it back.
    pub async fn check(
        &self,
        tx: &Transaction<'_>,
        resource: &str,
        fence: Fence,
    ) -> Result<GateAnswer, GateError> {
        let asked = Asked::new(resource, fence)?;
        let row = tx.query_typed_one(&self.sql(), &asked.parameters()).await;
        asked.answer(highest(row)?)
    }

    /// The same in the transaction of a call: see [`Transactional`](crate::Transactional).
    ///
    /// # Errors
    ///
    /// As [`FenceGate::check`].
    ///
    /// # Cancel safety
    ///
    /// As [`FenceGate::check`].
    pub async fn check_tx(
        &self,
        tx: &Tx,
        resource: &str,
        fence: Fence,
    ) -> Result<GateAnswer, GateError> {
        let asked = Asked::new(resource, fence)?;
        let row = tx.query_typed_one(&self.sql(), &asked.parameters()).await;
        asked.answer(highest(row)?)
    }

    /// It writes in any case, for the row's lock: an equal fence too keeps a later one waiting.
    fn sql(&self) -> String {
        format!(
            "INSERT INTO {} AS there (resource, fence) VALUES ($1, $2) \
             ON CONFLICT (resource) DO UPDATE \
             SET fence = greatest(there.fence, excluded.fence), seen_at = now() \
             RETURNING fence",
            self.table
        )
    }
}

impl Default for FenceGate {
    fn default() -> Self {
        Self::new()
    }
}

fn highest(row: Result<Row, Error>) -> StoreResult<i64> {
    row.and_then(|row| row.try_get(0)).map_err(failure::in_transaction)
}

/// A question that can be asked.
struct Asked<'a> {
    resource: &'a str,
    fence: Fence,
    number: i64,
}

impl<'a> Asked<'a> {
    fn new(resource: &'a str, fence: Fence) -> Result<Self, GateError> {
        // For its grammar: what can't be the name of a lock is guarded by none.
        Key::fence(resource)?;
        let number = i64::try_from(fence.get())
            .map_err(|_| GateError::FenceTooLarge { shown: fence, most: MOST })?;
        Ok(Self { resource, fence, number })
    }

    fn parameters(&self) -> [(&(dyn ToSql + Sync), Type); 2] {
        [(&self.resource, Type::TEXT), (&self.number, Type::INT8)]
    }

    fn answer(&self, highest: i64) -> Result<GateAnswer, GateError> {
        let highest = u64::try_from(highest).map_err(|_| {
            StoreError::damaged("the gate's table holds a fence that is below zero")
        })?;
        Ok(GateAnswer::of(Fence::new(highest), self.fence))
    }
}
