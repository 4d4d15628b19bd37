//! Values that only those who hold a key can read, or make.

mod cipher;
mod keys;
#[cfg(test)]
mod tests;

use async_trait::async_trait;

pub use self::keys::{SealKey, SealKeyId, SealKeys, SealKeysError};
use crate::key::Key;
use crate::store::{Expect, Hint, Next, Page, Snapshot, Store, StoreResult, Swap, Touch};

/// A store whose values are encrypted and authenticated, each bound to its key.
///
/// XChaCha20-Poly1305 with a random 192-bit nonce for each value. The entry's key is associated
/// data: a value that was moved to another key, or a reply meant for another key, does not open.
/// Keys, deadlines, versions and the lengths of values stay readable.
///
/// What does not open is [`Damaged`](crate::StoreErrorKind::Damaged), never absent: an altered or
/// truncated value, one sealed under a key that is not held, one that was never sealed. The
/// message names the digest of the entry's key. A read, a lost swap and a *whole page* of a scan
/// fail on it; to see what else is there, scan the store beneath. What needs no value still works:
/// a swap that wins does not open what it replaces, renews or deletes.
///
/// Who can write to the store can still bring an *older* sealed value of the same key back, or
/// remove an entry. Sealing keeps values secret and whole; it does not replace access control.
///
/// A sealed value is [`Seal::OVERHEAD`] bytes longer, and the limit of the store beneath counts
/// them.
///
/// # Rotation
///
/// Values are sealed under the current key and opened under whichever is named in them. Bring the
/// new key to all processes as an *older* one first, then make it the current one everywhere, and
/// drop the last one when the longest keep has passed.
#[derive(Debug, Clone)]
pub struct Seal<S> {
    inner: S,
    keys: SealKeys,
}

impl<S> Seal<S> {
    /// How many bytes longer a sealed value is.
    pub const OVERHEAD: usize = cipher::OVERHEAD;

    /// Seals the values of `inner` under `keys`.
    pub const fn new(inner: S, keys: SealKeys) -> Self {
        Self { inner, keys }
    }

    fn opened(&self, key: &Key, mut there: Snapshot) -> StoreResult<Snapshot> {
        if let Some(entry) = &mut there.entry {
            entry.value = cipher::open(&self.keys, key, &entry.value)?;
        }
        Ok(there)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Seal<S> {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        let next = match next {
            Next::Put { value, lease, keep } => {
                Next::Put { value: cipher::seal(&self.keys, key, &value)?, lease, keep }
            }
            valueless => valueless,
        };
        match self.inner.swap(key, expect, next).await? {
            Swap::Lost(there) => Ok(Swap::Lost(self.opened(key, there)?)),
            won => Ok(won),
        }
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        let there = self.inner.read(key, touch).await?;
        self.opened(key, there)
    }

    fn changed(&self, key: &Key) -> Hint {
        self.inner.changed(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        let mut page = self.inner.scan(prefix, after, limit).await?;
        for (key, entry) in &mut page.entries {
            entry.value = cipher::open(&self.keys, key, &entry.value)?;
        }
        Ok(page)
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        self.inner.sweep(limit).await
    }
}
