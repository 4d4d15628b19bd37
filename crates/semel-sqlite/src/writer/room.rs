//! How full the file and its disk may get.

use std::path::Path;

use rusqlite::Result;
use semel_core::{Refusal, StoreError, StoreResult};

use super::sql::Sql;
use crate::open::Bounds;

/// What a row costs beside its key and value, in all trees it is in.
const ROW_OVERHEAD: usize = 128;

/// The room there is, and how much of it is for entries that were not there before.
///
/// Of a file with a bound an eighth is for those that are there already, and on the disk so many
/// bytes: what was let in can be recorded. The bound itself is kept by SQLite, which fails what
/// would go beyond it.
pub(super) struct Room {
    bounds: Bounds,
    /// Asked once in a transaction.
    free_bytes: Option<u64>,
}

impl Room {
    pub(super) const fn new(bounds: Bounds) -> Self {
        Self { bounds, free_bytes: None }
    }

    /// A new transaction: what was free may be taken now.
    pub(super) fn begin(&mut self) {
        self.free_bytes = None;
    }

    /// Whether the disk has room for entries that were not there before.
    pub(super) fn check_disk(&mut self) -> StoreResult<()> {
        let least = self.bounds.min_free_bytes;
        if least == 0 {
            return Ok(());
        }
        let free = *self.free_bytes.get_or_insert_with(|| free_bytes(&self.bounds.path));
        if free >= least {
            return Ok(());
        }
        let message = format!(
            "{free} bytes are free on the disk; new entries are taken with {least} or more"
        );
        Err(StoreError::refused(Refusal::Full, message))
    }

    /// Whether the file has room for one more entry of this many bytes.
    pub(super) fn check_file(&self, sql: &mut Sql<'_>, bytes: usize) -> Result<StoreResult<()>> {
        let Some(pages) = self.bounds.pages else { return Ok(Ok(())) };
        let for_new = pages - pages / 8;
        let used = sql.used_pages()?;
        let bytes = i64::try_from(bytes.saturating_add(ROW_OVERHEAD)).unwrap_or(i64::MAX);
        if used.saturating_add(bytes / self.bounds.page_bytes) < for_new {
            return Ok(Ok(()));
        }
        let message =
            format!("{used} of {pages} pages are in use; new entries may use {for_new} of them");
        Ok(Err(StoreError::refused(Refusal::Full, message)))
    }
}

/// What is free for us on the disk. One that does not tell has enough: SQLite will find out.
#[cfg(unix)]
fn free_bytes(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> u64 {
    u64::MAX
}
