//! The transaction as the work of a call has it.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use rusqlite::Connection;
use semel_core::{StoreError, StoreResult};

use super::orders::Orders;

/// The open transaction of a call, for whoever does its work: rows that are written with it commit
/// together with the call's record, or not at all.
///
/// A clone is a second handle. It must not be kept past the end of the work: a commit under a
/// handle that is still held somewhere is refused, and the call fails.
///
/// In a web service the handler gets it from the request, by the extractor for axum (feature
/// `axum`) or from the [`TransactionHandle`](semel_core::cocommit::TransactionHandle) in the
/// request's extensions.
#[derive(Clone)]
pub struct Tx(Arc<Orders>);

impl Tx {
    pub(super) fn new(orders: &Arc<Orders>) -> Self {
        Self(Arc::clone(orders))
    }

    /// Runs this with the connection, in its open transaction, on the thread that has it. Neither
    /// begin nor end a transaction on it.
    ///
    /// The whole file is locked for others that write as long as the transaction is open: what
    /// takes long does not belong into it.
    ///
    /// ```no_run
    /// # async fn show(tx: semel_sqlite::Tx) -> Result<(), Box<dyn std::error::Error>> {
    /// let sql = "INSERT INTO orders (item) VALUES (?1)";
    /// tx.with(|db| db.execute(sql, ["book"])).await??;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `NotApplied` after the work has ended.
    ///
    /// # Panics
    ///
    /// When `work` does, with its own panic.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, `work` runs all the same.
    pub async fn with<T, F>(&self, work: F) -> StoreResult<T>
    where
        F: FnOnce(&Connection) -> T + Send + 'static,
        T: Send + 'static,
    {
        let ran = self.0.run(work).await.ok_or_else(ended)?;
        Ok(ran.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

fn ended() -> StoreError {
    StoreError::not_applied("the transaction has ended: its work was answered, or dropped")
}

impl fmt::Debug for Tx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tx").finish_non_exhaustive()
    }
}
