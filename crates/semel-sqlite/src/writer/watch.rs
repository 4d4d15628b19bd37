//! Changes that other processes make, noticed.
//!
//! The writer itself looks, on its own connection, because there SQLite's `data_version` moves
//! with the commits of others only: a watcher on a connection of its own would also see each
//! commit of this very store, and wake everybody for it.

use semel_core::Hints;

use super::sql::Sql;

/// The file as it was last seen.
pub(super) struct Watch {
    seen: Option<i64>,
}

impl Watch {
    pub(super) fn new(sql: &mut Sql<'_>) -> Self {
        Self { seen: sql.data_version().ok() }
    }

    /// Wakes all who wait if another connection has committed since the last look. Which keys
    /// changed the file does not tell: a hint may be false.
    ///
    /// It looks only when somebody waits. What was committed while nobody did is told late, to the
    /// first who waits: one needless look for them, and none is lost.
    pub(super) fn look(&mut self, sql: &mut Sql<'_>, hints: &Hints) {
        if hints.waiting() == 0 {
            return;
        }
        // A file that can't be read is told to those who read.
        let Ok(version) = sql.data_version() else { return };
        if self.seen.replace(version) != Some(version) {
            hints.notify_all();
        }
    }
}
