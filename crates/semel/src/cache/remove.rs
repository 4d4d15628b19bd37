//! Removing: always, or only where the value is still a certain one.

use std::pin::pin;

use semel_core::{
    Expect, Next, StoreError, StoreErrorKind, StoreResult, Swap, Token, Touch, Version,
};

use super::engine::{Cache, Engine};
use super::entry::{Seen, contention, nothing_written};
use super::error::CacheError;
use crate::drive::{Address, in_time};

/// How often a removal begins anew because what is there changed.
const ROUNDS: usize = 16;

/// What came of removing a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// There was one, and it is gone.
    Removed,
    /// There was none.
    Absent,
}

/// What came of removing a value that had to be a certain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "whether it was removed is the answer"]
pub enum TryRemoved {
    /// It was that one, and this call removed it.
    Removed,
    /// There is another, and it stays.
    Differs,
    /// There is none.
    Absent,
}

impl Cache {
    /// Removes the value under a key, whatever it is; an entry that can't be read as well.
    ///
    /// Two round trips; one where there is nothing.
    ///
    /// # Errors
    ///
    /// [`CacheError`]: the key breaks the grammar, or the store can't be reached.
    /// [`CacheError::Indeterminate`] when its reply was lost and it could not be looked at again.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the value may have been removed or not.
    pub async fn remove(&self, key: &str) -> Result<Removed, CacheError> {
        let at = self.0.at(key)?;
        in_time(pin!(self.0.removed(&at))).await.map_err(CacheError::of_write)
    }

    /// Removes the value under a key if its bytes are still these. Of many who try at once, one
    /// removes.
    ///
    /// Two round trips; one where there is nothing to remove.
    ///
    /// # Errors
    ///
    /// As [`Cache::remove`], and [`CacheError::Damaged`] for an entry that can't be read.
    /// [`CacheError::Indeterminate`] when a reply was lost and the value is gone: by this call or by
    /// another's.
    ///
    /// # Panics
    ///
    /// As [`Cache::remove`].
    ///
    /// # Cancel safety
    ///
    /// As [`Cache::remove`].
    pub async fn try_remove(&self, key: &str, expected: &[u8]) -> Result<TryRemoved, CacheError> {
        self.0.remove_if(key, |value| value == expected).await
    }
}

impl Engine {
    pub(super) async fn remove_if(
        &self,
        key: &str,
        is: impl Fn(&[u8]) -> bool,
    ) -> Result<TryRemoved, CacheError> {
        let at = self.at(key)?;
        in_time(pin!(self.removed_if(&at, is))).await.map_err(CacheError::of_write)
    }

    /// Removes what is there, readable or not.
    ///
    /// It does not matter who removed what was seen: it was there, and is gone.
    pub(super) async fn removed(&self, at: &Address) -> StoreResult<Removed> {
        let there = self.store.read(&at.key, Touch::No).await;
        let mut there = there.map_err(nothing_written)?.entry;
        let mut lost: Option<StoreError> = None;
        let mut was_live = false;
        for _ in 0..ROUNDS {
            let Some(entry) = there else { return Ok(removed_if_was(was_live)) };
            let is_live = !entry.lease_left.is_zero();
            there = match self.delete(at, entry.version).await {
                Ok(Swap::Won(_)) => return Ok(removed_if_was(was_live || is_live)),
                Ok(Swap::Lost(snapshot)) => snapshot.entry,
                Err(error) if error.kind() == StoreErrorKind::Unknown => {
                    was_live |= is_live;
                    let looked = self.store.read(&at.key, Touch::No).await;
                    let Ok(snapshot) = looked else { return Err(error) };
                    lost = Some(error);
                    snapshot.entry
                }
                Err(error) => return Err(lost.unwrap_or(error)),
            };
        }
        Err(lost.unwrap_or_else(contention))
    }

    async fn removed_if(
        &self,
        at: &Address,
        is: impl Fn(&[u8]) -> bool,
    ) -> StoreResult<TryRemoved> {
        let mut seen = self.look(at).await.map_err(nothing_written)?;
        let mut lost: Option<(StoreError, Token)> = None;
        for _ in 0..ROUNDS {
            let there = seen.filter(Seen::is_live);
            lost = match lost {
                // Gone or replaced since the reply was lost: by this call, or by another's.
                Some((error, token))
                    if !there.as_ref().is_some_and(|it| it.entry.token == token) =>
                {
                    return Err(error);
                }
                lost => lost,
            };
            let Some(there) = there else { return Ok(TryRemoved::Absent) };
            if !is(&there.entry.value) {
                return Ok(TryRemoved::Differs);
            }
            let token = there.entry.token;
            seen = match self.delete(at, there.version).await {
                Ok(Swap::Won(_)) => return Ok(TryRemoved::Removed),
                Ok(Swap::Lost(snapshot)) => Seen::of(at, &snapshot)?,
                Err(error) if error.kind() == StoreErrorKind::Unknown => {
                    let Ok(seen) = self.look(at).await else { return Err(error) };
                    lost = Some((error, token));
                    seen
                }
                Err(error) => return Err(lost.map_or(error, |(lost, _)| lost)),
            };
        }
        Err(lost.map_or_else(contention, |(lost, _)| lost))
    }

    async fn delete(&self, at: &Address, version: Version) -> StoreResult<Swap> {
        self.store.swap(&at.key, Expect::Version(version), Next::Delete).await
    }
}

/// A sliding lifetime that was over made the value absent, though its bytes were there.
const fn removed_if_was(live: bool) -> Removed {
    if live { Removed::Removed } else { Removed::Absent }
}
