//! The file: how it is opened, what it holds, and which files are refused.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

/// Marks the file as this program's (`PRAGMA application_id`): "SMDO".
const APPLICATION: i32 = 0x534D_444F;
/// The schema below (`PRAGMA user_version`).
const VERSION: i32 = 1;
/// How long a statement waits for another process's write to end.
const BUSY: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE orders (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    name       TEXT NOT NULL,
    amount     INTEGER NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE INDEX orders_of_a_tenant ON orders (tenant, id);
CREATE TABLE payments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    order_id   INTEGER NOT NULL,
    amount     INTEGER NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
-- How often each operation's handler ran.
CREATE TABLE executions (
    operation TEXT PRIMARY KEY,
    count     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Requests whose one failure on purpose has been.
CREATE TABLE failed_once (
    request BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;
";

/// Why the file can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("it can't be opened: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("it is a database of something else (application id {0:#x})")]
    Foreign(i32),
    #[error(
        "it was made by a newer version of this program (schema {0}, this one knows {VERSION})"
    )]
    Newer(i32),
    #[error("its thread can't start: {0}")]
    Thread(std::io::Error),
}

/// Opens the file, makes the tables if there are none, and checks whose it is.
pub(super) fn open(path: &Path) -> Result<Connection, OpenError> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    // Whose file it is comes first: nothing is changed in somebody else's.
    check(&connection)?;
    to_wal(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made the tables since the first look.
    if check(&transaction)? == File::Empty {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()?;
    Ok(connection)
}

#[derive(Debug, PartialEq, Eq)]
enum File {
    Empty,
    Ours,
}

fn check(connection: &Connection) -> Result<File, OpenError> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (number("application_id")?, number("user_version")?) {
        (0, 0) if tables == 0 => Ok(File::Empty),
        (APPLICATION, VERSION) => Ok(File::Ours),
        (APPLICATION, newer) => Err(OpenError::Newer(newer)),
        (other, _) => Err(OpenError::Foreign(other)),
    }
}

/// Two processes that open a new file at the same moment can find each other
/// in the way here, where SQLite does not wait by itself.
fn to_wal(connection: &Connection) -> rusqlite::Result<()> {
    const TRIES: u32 = 200;
    for _ in 0..TRIES {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode {
            Ok(_) => return Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => pause(),
            Err(error) => return Err(error),
        }
    }
    connection.pragma_update(None, "journal_mode", "WAL")
}

#[expect(clippy::disallowed_methods, reason = "at start, before the runtime serves anybody")]
fn pause() {
    std::thread::sleep(Duration::from_millis(25));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(make: impl FnOnce(&Path)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("orders.db");
        make(&file);
        open(&file).unwrap_err().to_string()
    }

    #[test]
    fn a_new_file_is_made_and_opens_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("orders.db");
        open(&file).unwrap();
        let again = open(&file).unwrap();
        assert_eq!(check(&again).unwrap(), File::Ours);
    }

    #[test]
    fn processes_that_open_a_new_file_together_all_succeed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("orders.db");
        std::thread::scope(|scope| {
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&file).map(drop))).collect();
            for one in opened {
                one.join().unwrap().unwrap();
            }
        });
    }

    #[test]
    fn a_file_that_is_no_database_is_refused() {
        let why = refusal(|file| std::fs::write(file, "name;amount\n".repeat(99)).unwrap());
        assert!(why.contains("not a database"), "{why}");
    }

    #[test]
    fn a_database_of_something_else_is_refused_and_left_as_it_is() {
        let why = refusal(|file| {
            let other = Connection::open(file).unwrap();
            other.execute_batch("CREATE TABLE customers (name TEXT)").unwrap();
        });
        assert!(why.contains("something else"), "{why}");
    }

    #[test]
    fn a_newer_schema_is_refused_by_its_number() {
        let why = refusal(|file| {
            let newer = open(file).unwrap();
            newer.pragma_update(None, "user_version", VERSION + 1).unwrap();
        });
        assert!(why.contains("newer version") && why.contains("schema 2"), "{why}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_refused() {
        assert!(open(Path::new("/nowhere/at/all/orders.db")).is_err());
    }
}
