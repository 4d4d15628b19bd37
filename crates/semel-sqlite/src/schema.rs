//! The tables, their version, and whose file it is.

use rusqlite::{Connection, Result};

/// SQLite's header field for "which program's file is this": the letters "Seml".
pub(crate) const APPLICATION_ID: i32 = 0x5365_6D6C;

/// A step from one schema version to the next, inside the transaction of all steps.
pub(crate) type Step = fn(&Connection) -> Result<()>;

/// All steps there are: step `n` leads from version `n` to `n + 1`. Version 0 is an empty file.
/// A step that has been released is never changed.
pub(crate) const STEPS: &[Step] = &[create];

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Nobody's yet: an empty database.
    Nobody,
    /// Ours, of this schema version.
    Semel(i32),
    /// Some other program's.
    Other,
}

/// Whose file this is. Reads only, in the caller's transaction: what it reads belongs together.
pub(crate) fn owner(db: &Connection) -> Result<Owner> {
    let application: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version, tables) {
        (0, 0, 0) => Owner::Nobody,
        (APPLICATION_ID, 1.., 1..) => Owner::Semel(version),
        _ => Owner::Other,
    })
}

/// Brings the tables from `found` to the version that `steps` lead to. In the caller's
/// transaction, so that it happens as a whole or not at all.
pub(crate) fn migrate(db: &Connection, steps: &[Step], found: i32) -> Result<()> {
    let mut version = found;
    for step in steps.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        step(db)?;
        version += 1;
    }
    if version != found {
        db.pragma_update(None, "application_id", APPLICATION_ID)?;
        db.pragma_update(None, "user_version", version)?;
    }
    Ok(())
}

/// The version that `steps` lead to.
pub(crate) fn newest(steps: &[Step]) -> i32 {
    i32::try_from(steps.len()).unwrap_or(i32::MAX)
}

/// Version 1.
///
/// `entry` has a row id, so that the big part of each row, its value, is written at the end of
/// one tree whatever the key is, and the trees that are looked up by key and by end hold small
/// entries only. A table without row id would spread the values over all its pages by key, and
/// each claim would read and write a page of strangers' values: measured with 400,000 entries of
/// 700 bytes, that did 0.7 times as many claims a second in a file 1.17 times as large.
///
/// `meta` has one row. `last_version` and `last_time` are the floor under versions and clock;
/// `boot` and `boot_offset` are the clock that all processes share.
fn create(db: &Connection) -> Result<()> {
    db.execute_batch(
        "CREATE TABLE entry (
             id INTEGER PRIMARY KEY,
             key TEXT NOT NULL UNIQUE COLLATE BINARY,
             version INTEGER NOT NULL,
             lease_at INTEGER NOT NULL,
             keep_at INTEGER NOT NULL,
             value BLOB NOT NULL
         ) STRICT;
         CREATE INDEX entry_by_end ON entry (keep_at);
         CREATE TABLE meta (
             id INTEGER PRIMARY KEY CHECK (id = 1),
             last_version INTEGER NOT NULL,
             last_time INTEGER NOT NULL,
             boot TEXT NOT NULL,
             boot_offset INTEGER NOT NULL
         ) STRICT;
         INSERT INTO meta VALUES (1, 0, 0, '', 0);",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(db: &Connection) -> Result<()> {
        db.execute_batch("ALTER TABLE entry ADD COLUMN note TEXT")
    }

    fn broken(db: &Connection) -> Result<()> {
        db.execute_batch("CREATE TABLE half_made (x); SELECT nonsense()")
    }

    fn migrated(db: &mut Connection, steps: &[Step], found: i32) -> Result<()> {
        let transaction = db.transaction()?;
        migrate(&transaction, steps, found)?;
        transaction.commit()
    }

    #[test]
    fn an_empty_file_gets_the_tables_and_is_ours() {
        let mut db = Connection::open_in_memory().unwrap();
        assert_eq!(owner(&db).unwrap(), Owner::Nobody);
        migrated(&mut db, STEPS, 0).unwrap();
        assert_eq!(owner(&db).unwrap(), Owner::Semel(newest(STEPS)));
    }

    #[test]
    fn an_older_file_takes_only_the_steps_it_lacks_and_keeps_its_rows() {
        let mut db = Connection::open_in_memory().unwrap();
        migrated(&mut db, &[create], 0).unwrap();
        db.execute("INSERT INTO entry VALUES (1, 'k', 7, 1, 2, x'00')", []).unwrap();
        migrated(&mut db, &[create, second], 1).unwrap();
        assert_eq!(owner(&db).unwrap(), Owner::Semel(2));
        let kept: (i64, Option<String>) = db
            .query_row("SELECT version, note FROM entry", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(kept, (7, None));
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let mut db = Connection::open_in_memory().unwrap();
        migrated(&mut db, &[create], 0).unwrap();
        migrated(&mut db, &[create, second, broken], 1).unwrap_err();
        assert_eq!(owner(&db).unwrap(), Owner::Semel(1));
        assert!(db.prepare("SELECT note FROM entry").is_err());
        assert!(db.prepare("SELECT x FROM half_made").is_err());
    }

    #[test]
    fn a_file_with_tables_or_numbers_of_its_own_is_somebody_elses() {
        for sql in [
            "CREATE TABLE theirs (x)",
            "PRAGMA user_version = 3",
            "PRAGMA application_id = 77; CREATE TABLE theirs (x)",
            // Our mark without our tables: something went wrong with it, so hands off.
            "PRAGMA application_id = 1399156076; PRAGMA user_version = 1",
        ] {
            let db = Connection::open_in_memory().unwrap();
            db.execute_batch(sql).unwrap();
            assert_eq!(owner(&db).unwrap(), Owner::Other, "{sql}");
        }
    }
}
