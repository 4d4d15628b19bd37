//! Opening a file: whose it is, what it needs, and what it is refused for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, Error, ErrorCode, TransactionBehavior};
use semel_core::{Clock, Refusal, StoreError, StoreResult};

use crate::clock::{RealMachine, Timepiece, anchor};
use crate::connection;
use crate::failure::Cause;
use crate::path;
use crate::row;
use crate::schema::{self, Owner, Step};
use crate::settings::Settings;

/// The oldest SQLite that does: 3.51.3 mends a race that could lose commits when a write-ahead log
/// starts anew.
const OLDEST_SQLITE: i32 = 3_051_003;

/// An open file.
pub(crate) struct Opened {
    pub(crate) writer: Connection,
    pub(crate) readers: Vec<Connection>,
    pub(crate) time: Timepiece,
    pub(crate) bounds: Bounds,
}

/// How far a store may go.
pub(crate) struct Bounds {
    /// Pages in the file, where it has a bound.
    pub(crate) pages: Option<i64>,
    /// Bytes in a page.
    pub(crate) page_bytes: i64,
    /// Bytes that must be free on the disk for a new entry.
    pub(crate) min_free_bytes: u64,
    /// Where on the disk.
    pub(crate) path: PathBuf,
}

/// Opens the file that the settings name. Blocks: for the disk, and for other processes.
pub(crate) fn open(settings: &Settings) -> StoreResult<Opened> {
    check_library(rusqlite::version_number(), rusqlite::version())?;
    let path = path::prepare(&settings.path)?;
    let failed = |error| failed(&path, error);

    // First a connection that can't write: what is not ours stays as it is.
    let glance = connection::reader(&path, settings).and_then(|db| glance(&db)).map_err(failed)?;
    check_owner(&path, glance, schema::STEPS)?;

    let mut writer = connection::writer(&path, settings).map_err(failed)?;
    if writer.is_readonly(connection::MAIN).map_err(failed)? {
        return Err(not_permitted(&path, "the file is read-only for this process"));
    }
    connection::make_durable(&writer, settings)
        .map_err(failed)?
        .map_err(|why| StoreError::refused(Refusal::Unusable, cant_open(&path, &why)))?;
    let time = settle(&mut writer, &path, settings)?;
    let (pages, page_bytes) =
        connection::bound(&writer, settings.max_file_bytes).map_err(failed)?;
    let readers = (0..settings.readers).map(|_| connection::reader(&path, settings));
    let readers = readers.collect::<Result<_, _>>().map_err(failed)?;
    let min_free_bytes = settings.min_free_bytes;
    let bounds = Bounds { pages, page_bytes, min_free_bytes, path };
    Ok(Opened { writer, readers, time, bounds })
}

/// Whose file it is, by one view of it: another process may be making it right now.
fn glance(db: &Connection) -> rusqlite::Result<Owner> {
    let view = db.unchecked_transaction()?;
    schema::owner(&view)
}

fn check_library(number: i32, name: &str) -> StoreResult<()> {
    if number >= OLDEST_SQLITE {
        return Ok(());
    }
    let message = format!(
        "this program is linked with SQLite {name}; it takes 3.51.3 or newer, because older ones \
         can lose commits when the write-ahead log starts anew"
    );
    Err(StoreError::refused(Refusal::Unusable, message))
}

/// Tables and clock, in one transaction: of several processes that open a new file, or the first
/// after a boot, one does it and the others find it done.
fn settle(db: &mut Connection, path: &Path, settings: &Settings) -> StoreResult<Timepiece> {
    let failed = |error| failed(path, error);
    let transaction =
        db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let owner = schema::owner(&transaction).map_err(failed)?;
    let found = check_owner(path, owner, schema::STEPS)?;
    schema::migrate(&transaction, schema::STEPS, found).map_err(failed)?;
    let clock = match &settings.clock {
        Some(clock) => Arc::clone(clock),
        None => anchor(&transaction, Arc::new(RealMachine)).map_err(failed)?,
    };
    let time = floored(&transaction, clock).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(time)
}

fn floored(db: &Connection, clock: Arc<dyn Clock>) -> rusqlite::Result<Timepiece> {
    let seen =
        db.query_row("SELECT last_time FROM meta WHERE id = 1", [], |row| row::time(row, 0))?;
    let time = Timepiece::new(clock);
    time.no_earlier_than(seen);
    Ok(time)
}

/// The schema version to go on from, or why this file is not for us.
fn check_owner(path: &Path, owner: Owner, steps: &[Step]) -> StoreResult<i32> {
    let newest = schema::newest(steps);
    let why = match owner {
        Owner::Nobody => return Ok(0),
        Owner::Semel(version) if version <= newest => return Ok(version),
        Owner::Semel(version) => format!(
            "its schema is version {version}, this program knows up to {newest}; use the newer \
             program that upgraded it, or another file"
        ),
        Owner::Other => {
            "it is a database of another program and was left as it is; choose another path"
                .to_owned()
        }
    };
    Err(StoreError::refused(Refusal::Unusable, cant_open(path, &why)))
}

/// What is said when SQLite fails while a file is being opened.
pub(crate) fn failed(path: &Path, error: Error) -> StoreError {
    let unusable = |why| StoreError::refused(Refusal::Unusable, cant_open(path, why));
    let told = match Cause::of(&error) {
        Cause::Busy => {
            let why = "another process kept it locked for longer than the busy timeout";
            StoreError::not_applied(cant_open(path, why))
        }
        Cause::Full => StoreError::refused(Refusal::Full, cant_open(path, "the disk is full")),
        Cause::NotPermitted => not_permitted(path, "the system does not permit it"),
        _ if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => not_permitted(
            path,
            "the system refused; the process must be able to read and write the file and to make \
             files beside it",
        ),
        Cause::Corrupt if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            unusable("it is no SQLite database and was left as it is; choose another path")
        }
        Cause::Corrupt => unusable("it is damaged; restore it from a backup"),
        Cause::Moved => unusable("it was moved or removed meanwhile"),
        Cause::Io => unusable("the disk failed"),
        Cause::Other => unusable("SQLite failed; are its tables those of a Semel store?"),
    };
    told.caused_by(error)
}

fn not_permitted(path: &Path, why: &str) -> StoreError {
    StoreError::refused(Refusal::Credentials, cant_open(path, why))
}

fn cant_open(path: &Path, why: &str) -> String {
    format!("can't open {}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_can_lose_commits_is_refused_by_name() {
        for (number, name) in [(3_051_002, "3.51.2"), (3_045_000, "3.45.0")] {
            let error = check_library(number, name).unwrap_err();
            assert!(error.message().contains(name) && error.message().contains("3.51.3"));
        }
        check_library(OLDEST_SQLITE, "3.51.3").unwrap();
        check_library(rusqlite::version_number(), rusqlite::version()).unwrap();
    }

    #[test]
    fn a_newer_schema_is_refused_naming_both_versions() {
        let error = check_owner(Path::new("a.db"), Owner::Semel(2), schema::STEPS).unwrap_err();
        assert!(error.message().contains("version 2"), "{error}");
        assert!(error.message().contains("up to 1"), "{error}");
        assert!(error.message().contains("a.db"), "{error}");
    }

    #[test]
    fn an_older_schema_is_let_in_to_be_migrated() {
        let two: &[Step] = &[|_| Ok(()), |_| Ok(())];
        assert_eq!(check_owner(Path::new("a.db"), Owner::Semel(1), two).unwrap(), 1);
    }

    #[test]
    fn a_file_that_the_process_may_not_write_is_said_to_be_so() {
        for code in [rusqlite::ffi::SQLITE_READONLY, rusqlite::ffi::SQLITE_CANTOPEN] {
            let error = Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let told = failed(Path::new("a.db"), error);
            let refused = semel_core::StoreErrorKind::Refused(Refusal::Credentials);
            assert_eq!((told.kind(), told.message().contains("a.db")), (refused, true));
        }
    }
}
