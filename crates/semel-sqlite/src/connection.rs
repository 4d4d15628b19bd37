//! Connections to the file, and how each is set up.

use std::ffi::CStr;
use std::path::Path;
use std::thread::park_timeout;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result};

use crate::builder::Settings;
use crate::clock::Stopwatch;
use crate::failure::Cause;

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

/// Switches to the write-ahead log. For this one statement SQLite does not call the busy handler
/// in all cases, so two processes that make one file together need a loop.
fn write_ahead(db: &Connection, limit: Duration) -> Result<String> {
    let waited = Stopwatch::start();
    loop {
        let mode = db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Err(error) if Cause::of(&error) == Cause::Busy && waited.elapsed() < limit => {
                park_timeout(LONG_PAUSE);
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
