//! Writing: always, or only where nothing is.

use std::pin::pin;

use bytes::Bytes;
use semel_core::{
    CacheEntry, Expect, Next, StoreError, StoreErrorKind, StoreResult, Swap, Token, Touch, codec,
};

use super::engine::{Cache, Engine};
use super::entry::{Seen, contention};
use super::error::CacheError;
use super::lifetime::{Lifetime, Terms};
use crate::drive::{Address, in_time};

/// How often a write begins anew because what is there changed.
const ROUNDS: usize = 16;

/// What came of adding a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "whether it was added is the answer"]
pub enum TryAdded<V> {
    /// There was none: this one is there now.
    Added,
    /// There is one, this, and it stays.
    Present(V),
}

impl Cache {
    /// Caches a value, in the place of whatever is there.
    ///
    /// One round trip.
    ///
    /// # Errors
    ///
    /// [`CacheError`]: the key or the lifetime makes no sense, the store can't be reached, is full,
    /// or does not take a value so large. [`CacheError::Indeterminate`] when the store's reply was
    /// lost and another value, or none, was seen there afterwards.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the value may be cached or not.
    pub async fn set(
        &self,
        key: &str,
        value: impl Into<Bytes>,
        lifetime: impl Into<Lifetime>,
    ) -> Result<(), CacheError> {
        let at = self.0.at(key)?;
        let written = self.0.written(value.into(), lifetime.into())?;
        in_time(pin!(self.0.put(&at, &written))).await.map_err(CacheError::of_write)
    }

    /// Caches a value if there is none. Of many who try at once, one adds.
    ///
    /// One round trip, and one more where a sliding lifetime has run out before its end. What is
    /// present is not renewed.
    ///
    /// # Errors
    ///
    /// As [`Cache::set`], and [`CacheError::Damaged`] for an entry that can't be read: it is not
    /// absent. A lost reply is settled by looking whether the value that is there is this caller's.
    ///
    /// # Panics
    ///
    /// As [`Cache::set`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, the value may have been added or not.
    pub async fn try_add(
        &self,
        key: &str,
        value: impl Into<Bytes>,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryAdded<Bytes>, CacheError> {
        let at = self.0.at(key)?;
        let written = self.0.written(value.into(), lifetime.into())?;
        in_time(pin!(self.0.add(&at, &written))).await.map_err(CacheError::of_write)
    }
}

/// An entry to be written.
pub(super) struct Written {
    entry: CacheEntry,
    terms: Terms,
}

impl Written {
    pub(super) fn next(&self, at: &Address) -> Next {
        let value = codec::encode_cache(&at.digest, &self.entry);
        Next::Put { value, lease: self.terms.lease, keep: self.terms.keep }
    }

    pub(super) fn is(&self, seen: &Seen) -> bool {
        seen.entry.token == self.entry.token
    }
}

impl Engine {
    pub(super) fn written(&self, value: Bytes, lifetime: Lifetime) -> Result<Written, CacheError> {
        let terms = lifetime.checked(self.default_ttl)?;
        let entry = CacheEntry { token: Token::fresh(), renewal: terms.renewal, value };
        Ok(Written { entry, terms })
    }

    async fn put(&self, at: &Address, written: &Written) -> StoreResult<()> {
        match self.store.swap(&at.key, Expect::Any, written.next(at)).await {
            Ok(Swap::Won(_)) => Ok(()),
            Ok(Swap::Lost(_)) => Err(contention()),
            Err(error) if error.kind() == StoreErrorKind::Unknown => {
                match self.look(at).await {
                    Ok(Some(seen)) if written.is(&seen) => Ok(()),
                    // Another's, or nothing: ours was before it, or comes yet, or never does.
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    async fn add(&self, at: &Address, written: &Written) -> StoreResult<TryAdded<Bytes>> {
        let mut expect = Expect::Absent;
        let mut lost: Option<StoreError> = None;
        for _ in 0..ROUNDS {
            let seen = match self.store.swap(&at.key, expect, written.next(at)).await {
                Ok(Swap::Won(_)) => return Ok(TryAdded::Added),
                Ok(Swap::Lost(snapshot)) => Seen::of(at, &snapshot),
                Err(error) if error.kind() == StoreErrorKind::Unknown => {
                    let looked = self.look(at).await;
                    lost = Some(error);
                    looked
                }
                Err(error) => Err(error),
            };
            expect = match seen {
                // A reply that was lost before is what happened.
                Err(error) => return Err(lost.unwrap_or(error)),
                Ok(Some(seen)) if written.is(&seen) => return Ok(TryAdded::Added),
                Ok(Some(seen)) if seen.is_live() => return Ok(TryAdded::Present(seen.entry.value)),
                Ok(Some(lapsed)) => Expect::Version(lapsed.version),
                Ok(None) => Expect::Absent,
            };
        }
        Err(lost.unwrap_or_else(contention))
    }

    pub(super) async fn look(&self, at: &Address) -> StoreResult<Option<Seen>> {
        let snapshot = self.store.read(&at.key, Touch::No).await?;
        Seen::of(at, &snapshot)
    }
}
