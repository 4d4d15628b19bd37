//! Rows that work writes in the transaction of its record, on each store that has transactions.

use semel::{Once, TransactionHandle};
use semel_testkit::PostgresServer;
use tempfile::TempDir;

const TABLE: &str = "CREATE TABLE orders (run BIGINT)";
const ROWS: &str = "SELECT run FROM orders ORDER BY run";

/// Where rows and records are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum On {
    Sqlite,
    Postgres,
}

enum Keeps {
    File(TempDir),
    Server(PostgresServer),
}

/// An engine with transactions, and a table beside its records.
pub(crate) struct Books {
    pub(crate) once: Once,
    keeps: Keeps,
}

impl Books {
    pub(crate) async fn open(on: On) -> Self {
        let keeps = match on {
            On::Sqlite => Keeps::File(tempfile::tempdir().unwrap()),
            On::Postgres => Keeps::Server(PostgresServer::launch().await.unwrap()),
        };
        let url = match &keeps {
            Keeps::File(folder) => format!("sqlite:{}", folder.path().join("shop.db").display()),
            Keeps::Server(server) => server.url(),
        };
        // First: a file that is not the store's yet must be empty.
        let once = Once::with_transactions(semel::open_with_transactions(&url).await.unwrap());
        match &keeps {
            Keeps::File(folder) => connect(folder).execute_batch(TABLE).unwrap(),
            Keeps::Server(server) => drop(server.sql(TABLE).await.unwrap()),
        }
        Self { once, keeps }
    }

    /// The executions whose rows are there, for who looks from outside.
    pub(crate) async fn rows(&self) -> Vec<i64> {
        match &self.keeps {
            Keeps::File(folder) => {
                let db = connect(folder);
                let mut rows = db.prepare(ROWS).unwrap();
                rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            }
            Keeps::Server(server) => {
                let rows = server.sql(ROWS).await.unwrap();
                rows.lines().map(|row| row.parse().unwrap()).collect()
            }
        }
    }
}

fn connect(folder: &TempDir) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.path().join("shop.db")).unwrap()
}

/// The work: the row of one execution.
pub(crate) async fn insert(transaction: &TransactionHandle, run: usize) {
    let run = i64::try_from(run).unwrap();
    if let Some(tx) = transaction.get::<semel_sqlite::Tx>() {
        let insert = "INSERT INTO orders VALUES (?1)";
        let written = tx.with(move |db: &rusqlite::Connection| db.execute(insert, [run]));
        written.await.unwrap().unwrap();
    } else {
        let tx = transaction.get::<semel_postgres::Tx>().unwrap();
        tx.execute("INSERT INTO orders VALUES ($1)", &[&run]).await.unwrap();
    }
}

/// Has each test, which takes an [`On`], on each of them.
macro_rules! on_each {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::On::Sqlite).await;
            })*
        }
        mod postgres {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::On::Postgres).await;
            })*
        }
    };
}
pub(crate) use on_each;
