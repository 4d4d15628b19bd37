//! Reading, which renews what slides.

use std::pin::pin;

use bytes::Bytes;
use semel_core::{CacheEntry, Expect, Next, Renewal, StoreResult, Swap, Touch, Ttl};

use super::engine::{Cache, Engine};
use super::entry::{Seen, contention};
use super::error::CacheError;
use crate::drive::{Address, in_time};

/// How often a read begins anew because the value was replaced by one of another lifetime.
const ROUNDS: usize = 16;

/// What became of a value that was to be renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// It is there. A sliding lifetime counts from now.
    Refreshed,
    /// It is not there.
    Absent,
}

impl Cache {
    /// The value under a key, if there is one. A sliding lifetime is counted anew.
    ///
    /// One round trip; two where a sliding lifetime is renewed, which it is once a hundredth of it has
    /// gone by.
    ///
    /// # Errors
    ///
    /// [`CacheError`]: the key breaks the grammar, the store can't be reached, or the entry can't be
    /// read. Never for a value that is absent.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// Dropped, a sliding lifetime may have been renewed.
    pub async fn get(&self, key: &str) -> Result<Option<Bytes>, CacheError> {
        Ok(self.0.entry(key).await?.map(|entry| entry.value))
    }

    /// Renews a sliding lifetime as [`Cache::get`] does, for those who don't need the value.
    ///
    /// # Errors
    ///
    /// As [`Cache::get`].
    ///
    /// # Panics
    ///
    /// As [`Cache::get`].
    ///
    /// # Cancel safety
    ///
    /// As [`Cache::get`].
    pub async fn refresh(&self, key: &str) -> Result<Refreshed, CacheError> {
        let entry = self.0.entry(key).await?;
        Ok(entry.map_or(Refreshed::Absent, |_| Refreshed::Refreshed))
    }
}

impl Engine {
    async fn entry(&self, key: &str) -> Result<Option<CacheEntry>, CacheError> {
        let at = self.at(key)?;
        let entry = in_time(pin!(self.read(&at))).await.map_err(CacheError::of_read)?;
        let result = if entry.is_some() { "hit" } else { "miss" };
        metrics::counter!("semel_cache_reads_total", "result" => result).increment(1);
        Ok(entry)
    }

    /// Looks, and renews what was seen. How long is known only by the entry, so it takes a second
    /// trip; and between the two it may have been replaced by one of another lifetime, which the
    /// touch must not change: then it is touched again, by its own.
    async fn read(&self, at: &Address) -> StoreResult<Option<CacheEntry>> {
        let mut touch = Touch::No;
        for _ in 0..ROUNDS {
            let snapshot = self.store.read(&at.key, touch).await?;
            let Some(seen) = Seen::of(at, &snapshot)?.filter(Seen::is_live) else {
                return Ok(None);
            };
            if touch == Touch::No && !seen.is_due() {
                return Ok(Some(seen.entry));
            }
            let own = match seen.entry.renewal {
                Renewal::Keep(sliding) => return self.renew(at, seen, sliding).await,
                Renewal::Lease(sliding) => Touch::Lease(sliding),
                // As long as it is kept.
                Renewal::Never => Touch::Lease(Ttl::MAX),
            };
            if touch == own {
                return Ok(Some(seen.entry));
            }
            touch = own;
        }
        Err(contention())
    }

    /// A value without an end takes no more room than it lives, so both of its deadlines move.
    async fn renew(&self, at: &Address, seen: Seen, ttl: Ttl) -> StoreResult<Option<CacheEntry>> {
        let next = Next::Renew { lease: ttl, keep: ttl };
        match self.store.swap(&at.key, Expect::Version(seen.version), next).await? {
            Swap::Won(_) => Ok(Some(seen.entry)),
            // Just renewed by another reader, or replaced, or removed: what is there now is new.
            Swap::Lost(snapshot) => {
                Ok(Seen::of(at, &snapshot)?.filter(Seen::is_live).map(|seen| seen.entry))
            }
        }
    }
}
