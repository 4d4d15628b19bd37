//! The statements of the writer, prepared once.

use bytes::Bytes;
use rusqlite::{Connection, Error, OptionalExtension, Result, Statement, params};
use semel_core::{Expect, Key, StoreTime, Version};

use crate::row::{self, Stored};

/// All that the writer ever says to SQLite.
pub(super) struct Sql<'c> {
    begin: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
    floors: Statement<'c>,
    stamp: Statement<'c>,
    find: Statement<'c>,
    insert: Statement<'c>,
    replace: Statement<'c>,
    renew: Statement<'c>,
    touch: Statement<'c>,
    delete: Statement<'c>,
    sweep: Statement<'c>,
    schema: Statement<'c>,
    data_version: Statement<'c>,
    pages: Statement<'c>,
    free_pages: Statement<'c>,
}

/// A row as the writer finds it.
pub(super) struct Found {
    pub(super) id: i64,
    pub(super) stored: Stored,
    /// None where the swap that looks for it does not need it.
    pub(super) value: Option<Bytes>,
}

/// The deadlines and the version that a change leaves.
#[derive(Clone, Copy)]
pub(super) struct Stamps {
    pub(super) version: i64,
    pub(super) lease: i64,
    pub(super) keep: i64,
}

impl<'c> Sql<'c> {
    pub(super) fn prepare(db: &'c Connection) -> Result<Self> {
        Ok(Self {
            // The write lock first: a transaction that reads and then wants to write can't be
            // helped by waiting when somebody else wrote in between.
            begin: db.prepare("BEGIN IMMEDIATE")?,
            commit: db.prepare("COMMIT")?,
            rollback: db.prepare("ROLLBACK")?,
            floors: db.prepare("SELECT last_version, last_time FROM meta WHERE id = 1")?,
            stamp: db.prepare(
                "UPDATE meta SET last_version = ?1, last_time = max(last_time, ?2) WHERE id = 1",
            )?,
            // The value is only fetched where the swap is going to lose: what is there is then
            // the answer. Otherwise it may be megabytes that nobody looks at.
            find: db.prepare(
                "SELECT id, version, lease_at, keep_at,
                     CASE WHEN keep_at <= ?2 OR ?3 OR version = ?4 THEN NULL ELSE value END
                 FROM entry WHERE key = ?1",
            )?,
            insert: db.prepare(
                "INSERT INTO entry (key, version, lease_at, keep_at, value)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            replace: db.prepare(
                "UPDATE entry SET version = ?2, lease_at = ?3, keep_at = ?4, value = ?5
                 WHERE id = ?1",
            )?,
            renew: db.prepare(
                "UPDATE entry SET version = ?2, lease_at = ?3, keep_at = ?4 WHERE id = ?1",
            )?,
            touch: db.prepare("UPDATE entry SET lease_at = ?2 WHERE id = ?1")?,
            delete: db.prepare("DELETE FROM entry WHERE id = ?1")?,
            sweep: db.prepare(
                "DELETE FROM entry WHERE id IN
                     (SELECT id FROM entry WHERE keep_at <= ?1 ORDER BY keep_at LIMIT ?2)",
            )?,
            schema: db.prepare("PRAGMA user_version")?,
            data_version: db.prepare("PRAGMA data_version")?,
            pages: db.prepare("PRAGMA page_count")?,
            free_pages: db.prepare("PRAGMA freelist_count")?,
        })
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        self.begin.execute([]).map(drop)
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.commit.execute([]).map(drop)
    }

    pub(super) fn rollback(&mut self) -> Result<()> {
        self.rollback.execute([]).map(drop)
    }

    /// The last version that was given and the last time that was seen, by any process.
    pub(super) fn floors(&mut self) -> Result<(Version, StoreTime)> {
        self.floors.query_row([], |row| Ok((row::version(row, 0)?, row::time(row, 1)?)))
    }

    pub(super) fn stamp(&mut self, last: i64, time: StoreTime) -> Result<()> {
        self.stamp.execute(params![last, row::from_time(time)]).and_then(one)
    }

    /// The row of a key, past its end or not, with its value where it is neither past nor as
    /// expected.
    pub(super) fn find(
        &mut self,
        key: &Key,
        expect: Expect,
        now: StoreTime,
    ) -> Result<Option<Found>> {
        let (any, expected) = match expect {
            Expect::Any => (true, None),
            Expect::Absent => (false, None),
            // A number beyond SQLite's range is no row's: NULL equals nothing.
            Expect::Version(version) => (false, i64::try_from(version.get()).ok()),
        };
        let row = params![key.as_str(), row::from_time(now), any, expected];
        self.find
            .query_row(row, |row| {
                let (id, stored) = (row.get(0)?, Stored::read(row, 1)?);
                Ok(Found { id, stored, value: row::value(row, 4)? })
            })
            .optional()
    }

    // Each of these changes exactly one row. Anything else means that the trees of the file don't
    // agree, and must not be answered as a success.

    pub(super) fn insert(&mut self, key: &Key, to: Stamps, value: &[u8]) -> Result<()> {
        let row = params![key.as_str(), to.version, to.lease, to.keep, value];
        self.insert.execute(row).and_then(one)
    }

    pub(super) fn replace(&mut self, id: i64, to: Stamps, value: &[u8]) -> Result<()> {
        self.replace.execute(params![id, to.version, to.lease, to.keep, value]).and_then(one)
    }

    pub(super) fn renew(&mut self, id: i64, to: Stamps) -> Result<()> {
        self.renew.execute(params![id, to.version, to.lease, to.keep]).and_then(one)
    }

    pub(super) fn touch(&mut self, id: i64, lease: StoreTime) -> Result<()> {
        self.touch.execute(params![id, row::from_time(lease)]).and_then(one)
    }

    pub(super) fn delete(&mut self, id: i64) -> Result<()> {
        self.delete.execute([id]).and_then(one)
    }

    /// Removes at most `limit` rows that are past their end, the longest past first.
    pub(super) fn sweep(&mut self, now: StoreTime, limit: usize) -> Result<usize> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.sweep.execute(params![row::from_time(now), limit])
    }

    pub(super) fn schema(&mut self) -> Result<i32> {
        self.schema.query_row([], |row| row.get(0))
    }

    /// A number that differs from the last one if another connection has committed since.
    pub(super) fn data_version(&mut self) -> Result<i64> {
        self.data_version.query_row([], |row| row.get(0))
    }

    /// Pages of the file that hold something.
    pub(super) fn used_pages(&mut self) -> Result<i64> {
        let all: i64 = self.pages.query_row([], |row| row.get(0))?;
        let free: i64 = self.free_pages.query_row([], |row| row.get(0))?;
        Ok(all.saturating_sub(free))
    }
}

fn one(changed: usize) -> Result<()> {
    if changed == 1 { Ok(()) } else { Err(Error::StatementChangedRows(changed)) }
}
