//! The work: a row for each payment.

use std::error::Error;
use std::time::Duration;

use semel::TransactionHandle;
use semel_postgres::tokio_postgres;
use semel_sqlite::rusqlite::{self, Connection};

use crate::options::Consume;

/// Where an account is one that there is, and alice has one.
const TABLES: &str = "CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS payments (event TEXT NOT NULL, account TEXT, cents BIGINT);
    INSERT INTO accounts VALUES ('alice') ON CONFLICT DO NOTHING;";

/// One row, if the account is there. SQLite numbers parameters of this form as they come.
const BOOK: &str = "INSERT INTO payments (event, cents, account)
    SELECT $1, CAST($2 AS BIGINT), name FROM accounts WHERE name = $3";

pub(crate) struct Payment {
    event: String,
    account: String,
    cents: i64,
}

/// Why a payment was not booked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NotBooked {
    Malformed,
    NoAccount,
    Database,
}

/// Where the rows are.
pub(crate) enum Books {
    /// In a file of their own: their commit is one, that of the record is another.
    InTheFile(File),
    /// In the store's database: rows and record commit together.
    WithTheRecord(WithTheRecord),
}

pub(crate) struct File {
    path: String,
    pause: Duration,
}

pub(crate) struct WithTheRecord {
    pause: Duration,
}

impl Payment {
    pub(crate) fn read(event: &str, body: &[u8]) -> Result<Self, NotBooked> {
        let text = std::str::from_utf8(body).map_err(|_| NotBooked::Malformed)?;
        let (account, cents) = text.split_once(' ').ok_or(NotBooked::Malformed)?;
        let cents = cents.parse().map_err(|_| NotBooked::Malformed)?;
        Ok(Self { event: event.to_owned(), account: account.to_owned(), cents })
    }

    fn book(&self, db: &Connection) -> Result<(), NotBooked> {
        one(db.execute(BOOK, (&self.event, self.cents, &self.account))?)
    }
}

impl Books {
    pub(crate) async fn open(options: &Consume) -> Result<Self, Box<dyn Error>> {
        let pause = options.pause;
        if let Some(path) = &options.rows {
            prepare(path)?;
            return Ok(Self::InTheFile(File { path: path.clone(), pause }));
        }
        match options.store.split_once(':') {
            Some(("sqlite", path)) => prepare(path)?,
            _ => {
                let (client, connection) =
                    tokio_postgres::connect(&options.store, tokio_postgres::NoTls).await?;
                tokio::spawn(connection);
                client.batch_execute(TABLES).await?;
            }
        }
        Ok(Self::WithTheRecord(WithTheRecord { pause }))
    }
}

impl File {
    pub(crate) async fn book(&self, payment: Payment) -> Result<(), NotBooked> {
        let path = self.path.clone();
        let booked = tokio::task::spawn_blocking(move || payment.book(&connect(&path)?));
        booked.await.map_err(|_| NotBooked::Database)??;
        semel::timer::sleep(self.pause).await;
        Ok(())
    }
}

impl WithTheRecord {
    /// What is written with the transaction commits together with the record.
    pub(crate) async fn book(
        &self,
        payment: Payment,
        transaction: TransactionHandle,
    ) -> Result<(), NotBooked> {
        if let Some(tx) = transaction.get::<semel_sqlite::Tx>() {
            let booked = tx.with(move |db| payment.book(db)).await;
            booked.map_err(|_| NotBooked::Database)??;
        } else if let Some(tx) = transaction.get::<semel_postgres::Tx>() {
            let Payment { event, account, cents } = payment;
            one(tx.execute(BOOK, &[&event, &cents, &account]).await?)?;
        } else {
            return Err(NotBooked::Database);
        }
        semel::timer::sleep(self.pause).await;
        Ok(())
    }
}

/// Where the tables are there already nothing is written: others may be at it.
fn prepare(path: &str) -> rusqlite::Result<()> {
    let db = connect(path)?;
    let there = db.prepare("SELECT 1 FROM accounts, payments").is_ok();
    if there { Ok(()) } else { db.execute_batch(TABLES) }
}

fn connect(path: &str) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(Duration::from_secs(30))?;
    Ok(db)
}

/// One row was written, or there is no such account.
fn one<N: PartialEq + From<u8>>(rows: N) -> Result<(), NotBooked> {
    if rows == N::from(1) { Ok(()) } else { Err(NotBooked::NoAccount) }
}

impl From<rusqlite::Error> for NotBooked {
    fn from(_: rusqlite::Error) -> Self {
        Self::Database
    }
}

impl From<tokio_postgres::Error> for NotBooked {
    fn from(_: tokio_postgres::Error) -> Self {
        Self::Database
    }
}
