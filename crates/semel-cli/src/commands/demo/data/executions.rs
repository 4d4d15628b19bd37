//! What handlers really did: the meter that shows whether a retry was harmless.

use std::collections::BTreeMap;

use super::database::{DataError, Database};

/// Digest of what makes a request the same one again: operation, tenant,
/// subject, path and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request(pub(crate) [u8; 32]);

/// Whether this request has had its one failure on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// This is it.
    Now,
    Before,
}

const COUNT: &str = "
    INSERT INTO executions (operation, count) VALUES (?1, 1)
    ON CONFLICT (operation) DO UPDATE SET count = count + 1";

impl Database {
    /// Counts one execution, durably, before anything else happens: it stays
    /// counted when the handler then fails, panics or is killed.
    pub(crate) async fn count(&self, operation: &'static str) -> Result<(), DataError> {
        self.write(move |tx| tx.execute(COUNT, [operation]).map(drop)).await
    }

    /// How often each operation ran since the file was made.
    pub(crate) async fn executions(&self) -> Result<BTreeMap<String, i64>, DataError> {
        self.read(|db| {
            db.prepare_cached("SELECT operation, count FROM executions")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .await
    }

    /// Takes the one failure of a request; over all processes and restarts only
    /// one caller gets [`Failure::Now`].
    pub(crate) async fn fail_once(&self, request: Request) -> Result<Failure, DataError> {
        self.write(move |tx| {
            let new =
                tx.execute("INSERT OR IGNORE INTO failed_once (request) VALUES (?1)", [request.0])?;
            Ok(if new == 1 { Failure::Now } else { Failure::Before })
        })
        .await
    }
}
