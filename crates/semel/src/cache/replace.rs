//! Writing only where something is.

use std::pin::pin;

use bytes::Bytes;
use semel_core::{Expect, StoreErrorKind, StoreResult, Swap};

use super::engine::{Cache, Engine};
use super::entry::{Seen, contention, nothing_written};
use super::error::CacheError;
use super::lifetime::Lifetime;
use super::write::Written;
use crate::drive::{Address, in_time};

/// How often it begins anew because what is there changed.
const ROUNDS: usize = 16;

/// What came of replacing a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "whether it was replaced is the answer"]
pub enum TryReplaced {
    /// There was one: this one is there now.
    Replaced,
    /// There was none, and there still is none.
    Absent,
}

impl Cache {
    /// Caches a value if there is one already, in its place and with a lifetime of its own. So what
    /// was removed is not brought back by who did not know.
    ///
    /// Two round trips; one where there is nothing.
    ///
    /// # Errors
    ///
    /// As [`Cache::set`], and [`CacheError::Damaged`] for an entry that can't be read.
    ///
    /// # Panics
    ///
    /// As [`Cache::set`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, the value may have been replaced or not.
    pub async fn try_replace(
        &self,
        key: &str,
        value: impl Into<Bytes>,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryReplaced, CacheError> {
        let at = self.0.at(key)?;
        let written = self.0.written(value.into(), lifetime.into())?;
        in_time(pin!(self.0.replace(&at, &written))).await.map_err(CacheError::of_write)
    }
}

impl Engine {
    async fn replace(&self, at: &Address, written: &Written) -> StoreResult<TryReplaced> {
        let mut seen = self.look(at).await.map_err(nothing_written)?;
        for _ in 0..ROUNDS {
            let Some(there) = seen.filter(Seen::is_live) else { return Ok(TryReplaced::Absent) };
            let expect = Expect::Version(there.version);
            seen = match self.store.swap(&at.key, expect, written.next(at)).await {
                Ok(Swap::Won(_)) => return Ok(TryReplaced::Replaced),
                Ok(Swap::Lost(snapshot)) => Seen::of(at, &snapshot)?,
                Err(error) if error.kind() == StoreErrorKind::Unknown => {
                    return match self.look(at).await {
                        Ok(Some(seen)) if written.is(&seen) => Ok(TryReplaced::Replaced),
                        _ => Err(error),
                    };
                }
                Err(error) => return Err(error),
            };
        }
        Err(contention())
    }
}
