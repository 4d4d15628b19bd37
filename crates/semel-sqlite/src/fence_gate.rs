//! The other half of fencing, in the caller's own transaction.

use rusqlite::{Connection, Error, params};
use semel_core::{Fence, GateAnswer, GateError, Key, StoreError};

use crate::failure::Failure;

/// The most that a column of SQLite holds.
const MOST: Fence = Fence::new(i64::MAX as u64);

/// A gate for rows under locks: in the transaction that writes them, it refuses a fence that is
/// smaller than the last one seen.
///
/// A helper table has one row for each resource, with the highest fence:
///
/// ```sql
/// CREATE TABLE IF NOT EXISTS semel_fence (
///     resource TEXT    NOT NULL PRIMARY KEY,
///     fence    INTEGER NOT NULL CHECK (fence >= 0),
///     seen_at  INTEGER NOT NULL DEFAULT (unixepoch())
/// ) STRICT, WITHOUT ROWID;
/// ```
///
/// The check writes to it, so from there on the transaction has the file's write lock: a later
/// holder's transaction comes after it as a whole, or came before it and is seen. What was
/// remembered commits and rolls back with the rows.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut db = rusqlite::Connection::open_in_memory()?;
/// # db.execute_batch("CREATE TABLE totals (cents INTEGER); INSERT INTO totals VALUES (0)")?;
/// # let fence = semel_core::Fence::new(7);
/// use rusqlite::TransactionBehavior;
/// use semel_core::GateAnswer;
/// use semel_sqlite::FenceGate;
///
/// let gate = FenceGate::new();
/// gate.create_table(&db)?;                                  // once, or by the SQL above
///
/// let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
/// match gate.check(&tx, "orders:42", fence)? {              // the guard's resource and fence
///     GateAnswer::Passed => {
///         tx.execute("UPDATE totals SET cents = cents + 1999", [])?;
///         tx.commit()?;
///     }
///     GateAnswer::Refused { seen } => {
///         tx.rollback()?;
///         eprintln!("fence {seen} was here: the lock is lost");
///     }
/// }
/// # assert_eq!(db.query_row("SELECT cents FROM totals", [], |row| row.get::<_, i64>(0))?, 1999);
/// # Ok(())
/// # }
/// ```
///
/// A table of which each row has its own lock needs no gate: give it a column for the fence, and
/// make the comparison a condition of the write.
///
/// ```
/// # fn main() -> rusqlite::Result<()> {
/// # let db = rusqlite::Connection::open_in_memory()?;
/// # db.execute_batch("CREATE TABLE orders (id INTEGER, state TEXT, fence INTEGER NOT NULL);
/// #     INSERT INTO orders VALUES (42, 'new', 0)")?;
/// let sql = "UPDATE orders SET state = ?2, fence = ?1 WHERE id = ?3 AND fence <= ?1";
/// assert_eq!(db.execute(sql, (8, "paid", 42))?, 1);
/// assert_eq!(db.execute(sql, (7, "cancelled", 42))?, 0);    // came late: nothing was changed
/// # assert_eq!(db.query_row("SELECT state FROM orders", [], |row| row.get::<_, String>(0))?, "paid");
/// # Ok(())
/// # }
/// ```
///
/// Rows are kept until somebody removes them: those of resources that nobody has worked on for longer
/// than any work can stand still and go on, machines asleep and queues included.
///
/// ```sql
/// DELETE FROM semel_fence WHERE seen_at < unixepoch('now', '-1 year');
/// ```
#[derive(Debug, Clone)]
pub struct FenceGate {
    table: String,
}

impl FenceGate {
    /// A gate over table `semel_fence`.
    #[must_use]
    pub fn new() -> Self {
        Self::in_table("semel_fence")
    }

    /// A gate over a table of this name, taken as it is: `main.x` is a table with a dot in its name.
    /// All who guard the same resource must name the same one.
    #[must_use]
    pub fn in_table(name: &str) -> Self {
        Self { table: format!("\"{}\"", name.replace('"', "\"\"")) }
    }

    /// Makes the table where it is not there yet.
    ///
    /// # Errors
    ///
    /// Nothing was made: the file is locked, full, or may not be written.
    pub fn create_table(&self, db: &Connection) -> Result<(), StoreError> {
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {} (
                 resource TEXT    NOT NULL PRIMARY KEY,
                 fence    INTEGER NOT NULL CHECK (fence >= 0),
                 seen_at  INTEGER NOT NULL DEFAULT (unixepoch())
             ) STRICT, WITHOUT ROWID",
            self.table
        );
        db.execute_batch(&sql).map_err(failed)
    }

    /// Shows a fence, before the writes that it guards and in their transaction. A `Transaction` of
    /// rusqlite is a connection, and so is what [`Work`](crate::Work) and [`Tx`](crate::Tx) give.
    ///
    /// Where it is refused, roll back. One statement.
    ///
    /// # Errors
    ///
    /// Whatever it is, the fence has not passed: roll back. [`GateError::Resource`] and
    /// [`GateError::FenceTooLarge`] (over 2^63 - 1) before anything is asked;
    /// [`GateError::Store`] when the connection is in no transaction (`Refused`: the write that
    /// follows would be on its own), when SQLite fails, or when the table holds what is no fence
    /// (`Damaged`). A transaction that has read before another one wrote gets `NotApplied`, as
    /// SQLite has it: begin it with `IMMEDIATE`.
    pub fn check(
        &self,
        db: &Connection,
        resource: &str,
        fence: Fence,
    ) -> Result<GateAnswer, GateError> {
        // For its grammar: what can't be the name of a lock is guarded by none.
        Key::fence(resource)?;
        let Ok(shown) = i64::try_from(fence.get()) else {
            return Err(GateError::FenceTooLarge { shown: fence, most: MOST });
        };
        if db.is_autocommit() {
            let message = "a fence is checked in the transaction of the write that it guards, and \
                           this connection is in none";
            return Err(Failure::unusable(message).error().into());
        }
        // It writes in any case, for the lock that comes with it.
        let sql = format!(
            "INSERT INTO {} AS there (resource, fence) VALUES (?1, ?2)
             ON CONFLICT (resource) DO UPDATE
             SET fence = max(there.fence, excluded.fence), seen_at = unixepoch()
             RETURNING fence",
            self.table
        );
        let mut statement = db.prepare_cached(&sql).map_err(failed)?;
        let highest: i64 =
            statement.query_row(params![resource, shown], |row| row.get(0)).map_err(failed)?;
        let highest = u64::try_from(highest).map_err(|_| {
            StoreError::damaged("the gate's table holds a fence that is below zero")
        })?;
        Ok(GateAnswer::of(Fence::new(highest), fence))
    }
}

impl Default for FenceGate {
    fn default() -> Self {
        Self::new()
    }
}

fn failed(error: Error) -> StoreError {
    Failure::unchanged(error).error()
}
