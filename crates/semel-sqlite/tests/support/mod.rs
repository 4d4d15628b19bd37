//! Calls that book something: two rows for each effect, in the store's own file.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use semel_core::cocommit::{Began, Call};
use semel_core::protocol::{Begin, InDoubt};
use semel_core::{Claim, Extent, Form, Key, Operation, Outcome, Token, Ttl};
use semel_sqlite::{SqliteStore, Transactional};
use tempfile::TempDir;

pub(crate) struct Shop {
    pub(crate) directory: TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) transactional: Transactional,
}

pub(crate) async fn shop() -> Shop {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path().join("store.db")).await.unwrap();
    let transactional = Transactional::new(&store);
    let tables = "CREATE TABLE booking (id INTEGER PRIMARY KEY, key TEXT NOT NULL, leg INTEGER)";
    transactional.connect().unwrap().execute_batch(tables).unwrap();
    Shop { directory, store, transactional }
}

pub(crate) fn call(at: &str) -> Call {
    call_of(at, "book")
}

pub(crate) fn call_of(at: &str, operation: &str) -> Call {
    let hour = Ttl::new(Duration::from_secs(3_600)).unwrap();
    let claim = Claim {
        operation: Operation::new(operation.to_owned()).unwrap(),
        fingerprint: None,
        token: Token::fresh(),
        attempt: 1,
        owner: None,
    };
    let begin = Begin { claim, in_doubt: InDoubt::Rerun, lease: hour, keep: hour };
    Call::new(Key::new(at.to_owned()).unwrap(), begin, hour)
}

pub(crate) fn outcome(payload: impl Into<Vec<u8>>) -> Outcome {
    let payload = payload.into().into();
    Outcome { form: Form::Bytes, extent: Extent::Whole, payload }
}

pub(crate) fn first_row(db: &Connection, at: &str) -> String {
    db.execute("INSERT INTO booking (key, leg) VALUES (?1, 1)", [at]).unwrap();
    format!("booking {}", db.last_insert_rowid())
}

pub(crate) fn second_row(db: &Connection, at: &str) {
    db.execute("INSERT INTO booking (key, leg) VALUES (?1, 2)", [at]).unwrap();
}

/// Does the work, and gives its answer.
pub(crate) fn book(db: &Connection, at: &str) -> String {
    let answer = first_row(db, at);
    second_row(db, at);
    answer
}

/// How often a key was booked; half a booking fails the test.
pub(crate) fn booked(file: &Path, at: &str) -> u32 {
    let db = Connection::open(file).unwrap();
    db.busy_timeout(Duration::from_secs(30)).unwrap();
    let count = |leg: u32| -> u32 {
        let sql = "SELECT count(*) FROM booking WHERE key = ?1 AND leg = ?2";
        db.query_row(sql, (at, leg), |row| row.get(0)).unwrap()
    };
    assert_eq!(count(1), count(2), "half a booking of {at}");
    count(1)
}

/// Whether there is a record of a key.
pub(crate) fn is_recorded(file: &Path, at: &str) -> bool {
    let db = Connection::open(file).unwrap();
    db.busy_timeout(Duration::from_secs(30)).unwrap();
    let sql = "SELECT count(*) FROM entry WHERE key = ?1";
    db.query_row(sql, [at], |row| row.get::<_, u32>(0)).unwrap() == 1
}

pub(crate) fn replayed<W: std::fmt::Debug>(began: Began<W>) -> String {
    match began {
        Began::Replay(outcome) => String::from_utf8(outcome.payload.to_vec()).unwrap(),
        began => panic!("it must replay: {began:?}"),
    }
}

pub(crate) fn fresh<W: std::fmt::Debug>(began: Began<W>) -> W {
    match began {
        Began::Fresh(work) => work,
        began => panic!("it must begin: {began:?}"),
    }
}
