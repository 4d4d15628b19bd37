//! Listing keys.

use std::pin::pin;
use std::sync::Arc;

use semel_core::Key;

use super::engine::Cache;
use super::error::CacheError;
use crate::drive::in_time;

/// A page of a listing of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPage {
    /// The keys, in the order of their bytes.
    pub keys: Vec<Arc<str>>,
    /// Where to go on: what to give as `after`; none at the end. A page may be short, even empty,
    /// and yet not the last.
    pub next: Option<Arc<str>>,
}

impl Cache {
    /// The keys under which there is something and that begin with `prefix`, which may be empty. A
    /// page at a time, of at most `limit` entries, which begins after the key `after`.
    ///
    /// The prefix is literal: `%`, `_`, `*`, `[` and the like are characters as any other. For
    /// people and for clearing up, not for a hot path: the store brings the values along.
    ///
    /// # Errors
    ///
    /// [`CacheError`]: `after` is no key, or the store can't be reached.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind.
    pub async fn keys(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<KeyPage, CacheError> {
        let after = after.map(|after| self.0.key(after)).transpose()?;
        let prefix = format!("{}{prefix}", self.0.prefix);
        let page = self.0.store.scan(&prefix, after.as_ref(), limit);
        let page = in_time(pin!(page)).await.map_err(CacheError::of_read)?;
        let live = page.entries.iter().filter(|(_, entry)| !entry.lease_left.is_zero());
        let keys = live.map(|(key, _)| self.named(key)).collect();
        Ok(KeyPage { keys, next: page.next.as_ref().map(|key| self.named(key)) })
    }

    /// What its caller calls a key.
    fn named(&self, key: &Key) -> Arc<str> {
        key.as_str().strip_prefix(&self.0.prefix).unwrap_or(key.as_str()).into()
    }
}
