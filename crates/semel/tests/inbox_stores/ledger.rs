//! Rows that work writes in the transaction of its record.

use semel::TransactionHandle;
use semel_sqlite::rusqlite::Connection;

use super::{Broken, Keeps, Place};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS ledger (event TEXT NOT NULL)";

impl Place {
    pub(crate) async fn make_ledger(&self) {
        // A file that is not the store's yet must be empty.
        let _store = semel::open(&self.url).await.unwrap();
        match &self.keeps {
            Keeps::Folder(folder) => open(folder).execute_batch(TABLE).unwrap(),
            Keeps::Postgres(server) => drop(server.sql(TABLE).await.unwrap()),
            Keeps::Redis(_) => panic!("it has no tables"),
        }
    }

    /// How many rows an event has, for who looks from outside.
    pub(crate) async fn rows(&self, event: &str) -> u32 {
        let count = "SELECT COUNT(*) FROM ledger WHERE event = ";
        match &self.keeps {
            Keeps::Folder(folder) => {
                open(folder).query_row(&format!("{count}?1"), [event], |row| row.get(0)).unwrap()
            }
            Keeps::Postgres(server) => {
                server.sql(&format!("{count}'{event}'")).await.unwrap().parse().unwrap()
            }
            Keeps::Redis(_) => panic!("it has no tables"),
        }
    }
}

fn open(folder: &tempfile::TempDir) -> Connection {
    let db = Connection::open(folder.path().join("inbox.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    db
}

/// The work: one row.
pub(crate) async fn write(event: &str, transaction: &TransactionHandle) -> Result<(), Broken> {
    if let Some(tx) = transaction.get::<semel_sqlite::Tx>() {
        let event = event.to_owned();
        let written = tx.with(move |db| db.execute("INSERT INTO ledger VALUES (?1)", [event]));
        written.await.unwrap().unwrap();
    } else {
        let tx = transaction.get::<semel_postgres::Tx>().unwrap();
        tx.execute("INSERT INTO ledger VALUES ($1)", &[&event]).await.unwrap();
    }
    Ok(())
}
