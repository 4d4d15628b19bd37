//! One connection on a thread of its own, so that no runtime thread ever waits
//! for the disk.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::schema::{self, OpenError};

/// Jobs that may queue before callers wait for a place.
const QUEUE: usize = 1024;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// A handle to the business data; clones share the one connection.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    jobs: mpsc::Sender<Job>,
}

/// The business data couldn't be read or written.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum DataError {
    #[error("the order data answered: {0}")]
    Sqlite(Arc<rusqlite::Error>),
    #[error("the thread of the order data has ended")]
    Gone,
}

impl From<rusqlite::Error> for DataError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(Arc::new(error))
    }
}

impl Database {
    /// Opens or makes the file and starts its thread, which ends with the last handle.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let connection = schema::open(path)?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        std::thread::Builder::new()
            .name("order-data".to_owned())
            .spawn(move || work(connection, queue))
            .map_err(OpenError::Thread)?;
        Ok(Self { jobs })
    }

    /// Runs `work` in one transaction that takes the write lock at once and
    /// commits, durably, if `work` succeeds.
    ///
    /// Cancel safety: once queued, the work runs to its end even if the caller
    /// has gone.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, DataError> {
        self.run(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })
        .await
    }

    /// Runs `work`, which only reads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, DataError> {
        self.run(move |connection| work(connection)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, DataError> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // A caller that has gone needs no answer.
            let _ = reply.send(work(connection));
        });
        self.jobs.send(job).await.map_err(|_| DataError::Gone)?;
        Ok(answer.await.map_err(|_| DataError::Gone)??)
    }
}

fn work(mut connection: Connection, mut queue: mpsc::Receiver<Job>) {
    while let Some(job) = queue.blocking_recv() {
        job(&mut connection);
    }
}
