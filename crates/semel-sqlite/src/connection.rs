//! Connections to the file, and how each is set up.

use std::collections::hash_map::RandomState;
use std::ffi::CStr;
use std::hash::BuildHasher;
use std::path::Path;
use std::thread::park_timeout;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result};

use crate::clock::Stopwatch;
use crate::failure::Cause;
use crate::settings::Settings;

/// SQLite's name for the database that a connection was opened on.
pub(crate) const MAIN: &CStr = rusqlite::MAIN_DB;

/// Pages in the write-ahead log after which a commit also copies them into the file. More than
/// SQLite's 1,000: with group commit the same pages come again and again, and are copied once.
const CHECKPOINT_PAGES: i64 = 4_000;
/// What the log is cut to after it has once grown beyond it: 64 MiB.
const LOG_BYTES: i64 = 64 << 20;
/// Pages in memory, in KiB, given as SQLite wants it: negative.
const WRITER_CACHE: i64 = -32_768;
const READER_CACHE: i64 = -4_096;

/// The connection that writes. The file must be there: SQLite never makes one.
pub(crate) fn writer(path: &Path, settings: &Settings) -> Result<Connection> {
    let mut db = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    wait_when_busy(&mut db, settings.busy_timeout)?;
    guard(&db)?;
    db.pragma_update(None, "cache_size", WRITER_CACHE)?;
    Ok(db)
}

/// A connection that can't write, not even by mistake.
pub(crate) fn reader(path: &Path, settings: &Settings) -> Result<Connection> {
    let mut db = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    wait_when_busy(&mut db, settings.busy_timeout)?;
    guard(&db)?;
    db.pragma_update(None, "cache_size", READER_CACHE)?;
    Ok(db)
}

/// A connection for tables of the caller's: their triggers and views are theirs. As durable as the
/// writer's.
pub(crate) fn of_callers(path: &Path, busy_timeout: Duration) -> Result<Connection> {
    let mut db = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    wait_when_busy(&mut db, busy_timeout)?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "fullfsync", true)?;
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    Ok(db)
}

/// No mutex: each connection stays with one thread.
fn flags(mode: OpenFlags) -> OpenFlags {
    mode | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Against files that were made to harm: nothing in their schema is run, and what their pages
/// claim is checked.
fn guard(db: &Connection) -> Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.pragma_update(None, "temp_store", "MEMORY")
}

/// Waits for other processes in short steps instead of SQLite's, which grow to a tenth of a
/// second: a commit takes a millisecond or two, and whoever sleeps longer than that loses every
/// race for the lock against one that does not.
fn wait_when_busy(db: &mut Connection, limit: Duration) -> Result<()> {
    let mut waited = Stopwatch::start();
    db.busy_handler(Some(move |tries: i32| {
        if tries == 0 {
            waited = Stopwatch::start();
        }
        if waited.elapsed() >= limit {
            return false;
        }
        park_timeout(if tries < 200 { SHORT_PAUSE } else { LONG_PAUSE });
        true
    }))
}

const SHORT_PAUSE: Duration = Duration::from_micros(250);
const LONG_PAUSE: Duration = Duration::from_millis(2);

/// What makes an acknowledged write durable. Says what is wrong when the file or the system does
/// not go along.
pub(crate) fn make_durable(
    db: &Connection,
    settings: &Settings,
) -> Result<std::result::Result<(), String>> {
    let mode = write_ahead(db, settings.busy_timeout)?;
    if mode != "wal" {
        return Ok(Err(format!(
            "SQLite can't keep a write-ahead log here (its journal mode stays `{mode}`); is this \
             a network file system? The file must be on a local disk"
        )));
    }
    db.pragma_update(None, "synchronous", "FULL")?;
    // Where a plain fsync does not reach the medium (macOS), these do; elsewhere they do nothing.
    db.pragma_update(None, "fullfsync", true)?;
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    db.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    check(db)
}

/// Reads back what must be so, rather than believe that it was set.
fn check(db: &Connection) -> Result<std::result::Result<(), String>> {
    let synchronous: i64 = db.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    let encoding: String = db.pragma_query_value(None, "encoding", |row| row.get(0))?;
    let locking: String = db.pragma_query_value(None, "locking_mode", |row| row.get(0))?;
    Ok(if synchronous != 2 {
        Err(format!("`synchronous` stays {synchronous}; it must be 2 (FULL)"))
    } else if encoding != "UTF-8" {
        // Keys are listed in the order of their UTF-8 bytes.
        Err(format!("the file's encoding is {encoding}; it must be UTF-8"))
    } else if locking != "normal" {
        Err(format!("`locking_mode` is {locking}; it must be normal"))
    } else {
        Ok(())
    })
}

/// Switches to the write-ahead log; does nothing where that is on already.
///
/// For this one statement SQLite does not call the busy handler: each of two that make one file
/// together may hold what the other waits for. Both are failed at once and try again, so the
/// pauses must differ and grow, or they meet again and again.
fn write_ahead(db: &Connection, limit: Duration) -> Result<String> {
    let waited = Stopwatch::start();
    let dice = RandomState::new();
    let mut tries = 0_u32;
    loop {
        let mode = db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Err(error) if Cause::of(&error) == Cause::Busy && waited.elapsed() < limit => {
                let window = 4_000_u64 << tries.min(4);
                park_timeout(Duration::from_micros(dice.hash_one(tries) % window));
                tries += 1;
            }
            mode => return mode,
        }
    }
}

/// Bounds the file; gives the bound in pages, and the bytes in a page.
pub(crate) fn bound(db: &Connection, bytes: Option<u64>) -> Result<(Option<i64>, i64)> {
    let page: i64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let page = page.max(1);
    let Some(bytes) = bytes else { return Ok((None, page)) };
    let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page;
    db.pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))?;
    Ok((Some(pages), page))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(path: &Path) -> Settings {
        crate::SqliteStore::builder(path).0
    }

    fn file() -> (tempfile::TempDir, Connection) {
        let directory = tempfile::tempdir().unwrap();
        let db = Connection::open(directory.path().join("store.db")).unwrap();
        (directory, db)
    }

    #[test]
    fn a_durable_connection_forces_each_commit_to_the_disk() {
        let (directory, db) = file();
        db.execute_batch("PRAGMA synchronous = OFF").unwrap();
        make_durable(&db, &settings(directory.path())).unwrap().unwrap();
        let read = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(read("synchronous"), 2);
        assert_eq!((read("fullfsync"), read("checkpoint_fullfsync")), (1, 1));
    }

    #[test]
    fn settings_that_would_lose_commits_are_noticed() {
        for (setting, named) in [
            ("PRAGMA synchronous = NORMAL", "synchronous"),
            ("PRAGMA encoding = 'UTF-16le'", "UTF-16le"),
            ("PRAGMA locking_mode = EXCLUSIVE", "locking_mode"),
        ] {
            let (_directory, db) = file();
            db.execute_batch("PRAGMA synchronous = FULL").unwrap();
            check(&db).unwrap().unwrap();
            db.execute_batch(setting).unwrap();
            let why = check(&db).unwrap().expect_err(setting);
            assert!(why.contains(named), "{why}");
        }
    }

    #[test]
    fn a_database_that_can_have_no_log_is_refused() {
        let db = Connection::open_in_memory().unwrap();
        let why = make_durable(&db, &settings(Path::new("store.db"))).unwrap().unwrap_err();
        assert!(why.contains("journal mode stays `memory`"), "{why}");
    }
}
