//! How full a bounded file may get.

use rusqlite::Result;
use semel_core::{Refusal, StoreError};

use super::sql::Sql;

/// What a row costs beside its key and value, in all trees it is in.
const ROW_OVERHEAD: usize = 128;

/// The bound on the file, in pages, and how much of it is for entries that were not there before.
///
/// The rest, an eighth, is for those that are there already: what was let in can be recorded. The
/// bound itself is kept by SQLite, which fails what would go beyond it.
pub(super) struct Room {
    pages: Option<i64>,
    page_bytes: i64,
}

impl Room {
    pub(super) const fn new(pages: Option<i64>, page_bytes: i64) -> Self {
        Self { pages, page_bytes }
    }

    /// Why there is no room for one more entry, if there is none.
    pub(super) fn refusal(&self, sql: &mut Sql<'_>, bytes: usize) -> Result<Option<StoreError>> {
        let Some(pages) = self.pages else { return Ok(None) };
        let for_new = pages - pages / 8;
        let used = sql.used_pages()?;
        let bytes = i64::try_from(bytes + ROW_OVERHEAD).unwrap_or(i64::MAX);
        if used.saturating_add(bytes / self.page_bytes.max(1)) < for_new {
            return Ok(None);
        }
        let message =
            format!("{used} of {pages} pages are in use; new entries may use {for_new} of them");
        Ok(Some(StoreError::refused(Refusal::Full, message)))
    }
}
