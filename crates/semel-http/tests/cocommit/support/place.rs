//! Where the rows and the records are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use semel::Transactions;
use semel_postgres::PostgresStore;
use semel_sqlite::{SqliteStore, rusqlite};
use semel_testkit::PostgresServer;
use tempfile::TempDir;

use super::desk::Desk;

/// A database with an empty table for bookings.
pub(crate) trait Place: Sized {
    type Tx: Desk;

    async fn make() -> Self;

    async fn transactions(&self) -> Arc<dyn Transactions>;

    /// How many first and second legs were booked.
    async fn legs(&self, key: &str) -> (u32, u32);
}

#[derive(Clone)]
pub(crate) struct OnServer {
    pub(crate) server: Arc<PostgresServer>,
}

const ON_SERVER: &str = "CREATE TABLE booking (id bigserial, key text NOT NULL, leg int)";

impl OnServer {
    pub(crate) async fn on(server: PostgresServer) -> Self {
        server.sql(ON_SERVER).await.unwrap();
        Self { server: Arc::new(server) }
    }

    pub(crate) async fn open(url: &str) -> Arc<dyn Transactions> {
        Arc::new(semel_postgres::Transactional::new(&PostgresStore::open(url).await.unwrap()))
    }
}

impl Place for OnServer {
    type Tx = semel_postgres::Tx;

    async fn make() -> Self {
        Self::on(PostgresServer::launch().await.unwrap()).await
    }

    async fn transactions(&self) -> Arc<dyn Transactions> {
        Self::open(&self.server.url()).await
    }

    async fn legs(&self, key: &str) -> (u32, u32) {
        let sql = format!(
            "SELECT count(*) FILTER (WHERE leg = 1), count(*) FILTER (WHERE leg = 2) \
             FROM booking WHERE key = '{key}'"
        );
        let seen = self.server.sql(&sql).await.unwrap();
        let (first, second) = seen.split_once('|').unwrap();
        (first.parse().unwrap(), second.parse().unwrap())
    }
}

pub(crate) struct InFile {
    directory: TempDir,
}

impl InFile {
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("shop.db")
    }

    pub(crate) async fn open(path: &Path) -> Arc<dyn Transactions> {
        Arc::new(semel_sqlite::Transactional::new(&SqliteStore::open(path).await.unwrap()))
    }
}

impl Place for InFile {
    type Tx = semel_sqlite::Tx;

    async fn make() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        // The store makes the file.
        drop(place.transactions().await);
        let table = "CREATE TABLE booking (id INTEGER PRIMARY KEY, key TEXT NOT NULL, leg INT)";
        rusqlite::Connection::open(place.path()).unwrap().execute_batch(table).unwrap();
        place
    }

    async fn transactions(&self) -> Arc<dyn Transactions> {
        Self::open(&self.path()).await
    }

    async fn legs(&self, key: &str) -> (u32, u32) {
        let db = rusqlite::Connection::open(self.path()).unwrap();
        let sql = "SELECT count(*) FROM booking WHERE key = ?1 AND leg = ?2";
        let count = |leg| db.query_row(sql, (key, leg), |row| row.get(0)).unwrap();
        (count(1), count(2))
    }
}
