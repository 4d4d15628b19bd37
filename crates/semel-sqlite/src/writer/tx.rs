//! The writer's transaction: where calls run, and what they have in common.

use rusqlite::{Connection, Result};
use semel_core::{Refusal, StoreError, StoreTime, Version};

use super::halt::Halt;
use super::room::Room;
use super::sql::Sql;
use crate::clock::Timepiece;
use crate::failure::Failure;
use crate::open::Bounds;
use crate::schema;

/// How many ended entries are cleared away for each put.
const SWEPT_BY_PUT: usize = 2;
/// How many ended entries are cleared away before a put is refused for lack of room.
pub(super) const SWEPT_WHEN_FULL: usize = 256;

/// The transaction of a batch, one after the other on the same connection.
pub(crate) struct Tx<'c> {
    db: &'c Connection,
    pub(super) sql: Sql<'c>,
    room: Room,
    time: &'c Timepiece,
    /// The last version that was given; read anew in each transaction, for other processes give
    /// versions too.
    last: Version,
    now: StoreTime,
    changed: bool,
    puts: usize,
}

/// Why a transaction did not begin.
pub(super) enum NotBegun {
    /// This time; the next may.
    Now(Failure),
    /// Never again on this connection.
    Ever(Failure),
}

impl<'c> Tx<'c> {
    pub(super) fn new(db: &'c Connection, bounds: Bounds, time: &'c Timepiece) -> Result<Self> {
        Ok(Self {
            db,
            sql: Sql::prepare(db)?,
            room: Room::new(bounds),
            time,
            last: Version::new(0),
            now: StoreTime::default(),
            changed: false,
            puts: 0,
        })
    }

    // ===== from BEGIN to COMMIT =====

    pub(super) fn begin(&mut self) -> std::result::Result<(), NotBegun> {
        let failed = |error| NotBegun::Now(Failure::unchanged(error));
        self.sql.begin().map_err(failed)?;
        let checked = self.check_file();
        if checked.is_err() {
            self.undo().map_err(|error| NotBegun::Ever(Failure::unchanged(error)))?;
        }
        checked
    }

    /// What may have happened to the file since the last transaction.
    fn check_file(&mut self) -> std::result::Result<(), NotBegun> {
        let failed = |error| NotBegun::Now(Failure::unchanged(error));
        if has_moved(self.db).map_err(failed)? {
            let why = "the file was moved, removed or replaced while it was open; what would be \
                       written to it now would be lost";
            return Err(NotBegun::Ever(Failure::unusable(why)));
        }
        let (found, known) = (self.sql.schema().map_err(failed)?, schema::newest(schema::STEPS));
        if found != known {
            let why = format!(
                "the file's schema became version {found} while it was open, this program knows \
                 version {known}; restart with the newer program"
            );
            return Err(NotBegun::Ever(Failure::unusable(why)));
        }
        let (last, seen) = self.sql.floors().map_err(failed)?;
        self.last = last;
        self.now = self.time.no_earlier_than(seen);
        self.changed = false;
        self.puts = 0;
        self.room.begin();
        Ok(())
    }

    /// Leaves in the file what the next transaction, in whatever process, goes on from. Says
    /// whether there is anything to commit.
    pub(super) fn seal(&mut self) -> Result<bool> {
        if self.puts > 0 {
            self.sql.sweep(self.now, self.puts * SWEPT_BY_PUT)?;
        }
        if self.changed {
            // What `next_version` gave was checked to fit.
            let last = i64::try_from(self.last.get()).unwrap_or(i64::MAX);
            self.sql.stamp(last, self.now)?;
        }
        Ok(self.changed)
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.sql.commit()
    }

    /// Undoes the transaction, unless SQLite has done so already.
    pub(super) fn undo(&mut self) -> Result<()> {
        if self.db.is_autocommit() { Ok(()) } else { self.sql.rollback() }
    }

    // ===== for calls =====

    /// The present moment.
    pub(super) fn now(&mut self) -> StoreTime {
        self.now = self.time.now();
        self.now
    }

    /// The version for a change at `now`.
    pub(super) fn next_version(
        &mut self,
        now: StoreTime,
    ) -> std::result::Result<(Version, i64), Halt> {
        let next = Version::next(self.last, now);
        let number = i64::try_from(next.get()).map_err(|_| {
            let why = "the file's versions or its clock are at the end of their range";
            Halt::Refused(StoreError::refused(Refusal::Unusable, why))
        })?;
        self.last = next;
        Ok((next, number))
    }

    /// Says that there is something to commit.
    pub(super) fn mark_changed(&mut self) {
        self.changed = true;
    }

    pub(super) fn mark_put(&mut self) {
        self.changed = true;
        self.puts += 1;
    }

    /// Refuses an entry whose key has no row yet, of this many bytes, when there is no room even
    /// after what has ended was cleared away.
    pub(super) fn make_room(&mut self, bytes: usize) -> std::result::Result<(), Halt> {
        self.room.check_disk().map_err(Halt::Refused)?;
        if self.room.check_file(&mut self.sql, bytes)?.is_ok() {
            return Ok(());
        }
        if self.sql.sweep(self.now, SWEPT_WHEN_FULL)? > 0 {
            self.changed = true;
        }
        self.room.check_file(&mut self.sql, bytes)?.map_err(Halt::Refused)
    }
}

/// Whether the path leads to another file than the one that is open, or to none.
#[cfg(unix)]
fn has_moved(db: &Connection) -> Result<bool> {
    let mut moved = 0;
    let ask = rusqlite::FileControl::HasMoved(&mut moved);
    db.file_control(Some(crate::connection::MAIN), ask)?;
    Ok(moved != 0)
}

/// Elsewhere the system does not let an open file be moved.
#[cfg(not(unix))]
fn has_moved(_: &Connection) -> Result<bool> {
    Ok(false)
}
