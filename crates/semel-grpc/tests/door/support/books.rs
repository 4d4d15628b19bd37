//! Rows that work writes in the transaction of its record, on each store that has transactions.

use semel::{Once, TransactionHandle};
use semel_testkit::StorePlace;

const TABLE: &str = "CREATE TABLE orders (run BIGINT)";
const ROWS: &str = "SELECT run FROM orders ORDER BY run";

/// Where rows and records are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum On {
    Sqlite,
    Postgres,
}

/// An engine with transactions, and a table beside its records.
pub(crate) struct Books {
    pub(crate) once: Once,
    place: StorePlace,
}

impl Books {
    pub(crate) async fn open(on: On) -> Self {
        let place = match on {
            On::Sqlite => StorePlace::file().unwrap(),
            On::Postgres => StorePlace::postgres().await.unwrap(),
        };
        // First: a file that is not the store's yet must be empty.
        let transactions = semel::open_with_transactions(place.url()).await.unwrap();
        let books = Self { once: Once::with_transactions(transactions), place };
        match books.place.as_postgres() {
            Some(server) => drop(server.sql(TABLE).await.unwrap()),
            None => books.file().execute_batch(TABLE).unwrap(),
        }
        books
    }

    /// The executions whose rows are there, for who looks from outside.
    pub(crate) async fn rows(&self) -> Vec<i64> {
        if let Some(server) = self.place.as_postgres() {
            let rows = server.sql(ROWS).await.unwrap();
            return rows.lines().map(|row| row.parse().unwrap()).collect();
        }
        let db = self.file();
        let mut rows = db.prepare(ROWS).unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    fn file(&self) -> rusqlite::Connection {
        let path = self.place.url().strip_prefix("sqlite:").unwrap();
        rusqlite::Connection::open(path).unwrap()
    }
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
