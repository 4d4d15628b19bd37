//! What was seen of a lock, decoded.

use crate::codec::{self, Damaged};
use crate::key::KeyDigest;
use crate::lock::LockEntry;
use crate::store::{Snapshot, Version};
use crate::time::{StoreTime, Ttl};

/// A snapshot whose entry could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockSeen {
    /// The store's clock at that moment.
    pub now: StoreTime,
    /// The entry; none when nobody holds the lock or waits for it.
    pub entry: Option<SeenLock>,
}

/// An entry with what the store says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenLock {
    /// The entry's version.
    pub version: Version,
    /// What is left of the entry's lease.
    pub lease_left: Ttl,
    /// What is left of its keep.
    pub keep_left: Ttl,
    /// What it says.
    pub entry: LockEntry,
}

impl LockSeen {
    /// Decodes a snapshot of the key with this digest.
    ///
    /// # Errors
    ///
    /// [`Damaged`] when there is an entry that can't be read as a lock of this key.
    pub fn of(key: &KeyDigest, snapshot: &Snapshot) -> Result<Self, Damaged> {
        let entry = match &snapshot.entry {
            None => None,
            Some(entry) => Some(SeenLock {
                version: entry.version,
                lease_left: entry.lease_left,
                keep_left: entry.keep_left,
                entry: codec::decode_lock(key, &entry.value)?,
            }),
        };
        Ok(Self { now: snapshot.now, entry })
    }

    /// A lock presumed free: what somebody starts from who knows nothing. If the presumption is
    /// wrong the swap loses and brings the truth.
    #[must_use]
    pub const fn presumed_free() -> Self {
        Self { now: StoreTime::from_micros(0), entry: None }
    }

    /// A lock presumed to be as its holder left it, in an entry that the holder wrote itself and
    /// at the version that this write was given.
    ///
    /// None where deciding on it takes the store's clock: where others hold it too, wait, or are
    /// to be told something. Then the holder has to look.
    #[must_use]
    pub fn presumed_held(entry: &LockEntry, version: Version) -> Option<Self> {
        let [holder] = &entry.holders[..] else { return None };
        if holder.until.is_some() || !entry.queue.is_empty() || !entry.notes.is_empty() {
            return None;
        }
        let entry = entry.clone();
        let seen = SeenLock { version, lease_left: Ttl::MAX, keep_left: Ttl::MAX, entry };
        Some(Self { now: StoreTime::from_micros(0), entry: Some(seen) })
    }
}
