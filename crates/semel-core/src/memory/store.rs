//! The memory store.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;

use super::limits::MemoryLimits;
use super::shard::{Room, Shard, Slot};
use crate::hints::Hints;
use crate::key::Key;
use crate::store::{
    Entry, Expect, Hint, Next, Page, Snapshot, Stamp, Store, StoreResult, Swap, Touch, Version,
};
use crate::store_error::{Refusal, StoreError};
use crate::time::{Clock, StoreTime, Ttl};

const SHARDS: usize = 32;
/// An odd number whose bits are spread well (2^64 over the golden ratio).
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
/// How many ended entries a put clears away on its own shard.
const SWEPT_BY_PUT: usize = 2;
/// How many ended entries are cleared away at a time before a put is refused for lack of room.
const SWEPT_WHEN_FULL: usize = 256;

/// A store in this process's memory. It is the reference for every other store.
///
/// It forgets everything when the process ends, which for idempotency means: a retry after a
/// restart runs again. See [`MemoryLimits`] for what happens when it is full. A clone is a second
/// handle to the same entries.
#[derive(Clone)]
pub struct MemoryStore(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    limits: MemoryLimits,
    /// Chosen anew for each store.
    seed: u64,
    shards: [Mutex<Shard>; SHARDS],
    last_version: AtomicU64,
    used: AtomicUsize,
    swept_next: AtomicUsize,
    hints: Hints,
}

impl MemoryStore {
    /// An empty store that lives by `clock`, with the default limits.
    pub fn new(clock: impl Clock + 'static) -> Self {
        Self::with_limits(clock, MemoryLimits::default())
    }

    /// An empty store with limits of one's own.
    pub fn with_limits(clock: impl Clock + 'static, limits: MemoryLimits) -> Self {
        Self(Arc::new(Inner {
            clock: Arc::new(clock),
            limits,
            seed: RandomState::new().hash_one(SHARDS),
            shards: std::array::from_fn(|_| Mutex::default()),
            last_version: AtomicU64::new(0),
            used: AtomicUsize::new(0),
            swept_next: AtomicUsize::new(0),
            hints: Hints::new(),
        }))
    }

    /// Bytes in use, overhead included.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("used_bytes", &self.used_bytes())
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// Any place will do that nobody can choose: inside a shard, a map with a hash of its own keeps
    /// apart what comes to the same one.
    fn shard(&self, key: &Key) -> &Mutex<Shard> {
        let mut mixed = self.seed;
        for chunk in key.as_str().as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            mixed = (mixed ^ u64::from_le_bytes(word)).wrapping_mul(ODD).rotate_left(29);
        }
        let index = (mixed >> 32) as usize % SHARDS;
        &self.shards[index]
    }

    /// The next version: called under the lock of the key's shard, so that versions of a key rise
    /// in the order of its swaps.
    fn next_version(&self, now: StoreTime) -> Version {
        let step = |last| Some(Version::next(Version::new(last), now).get());
        let last = self
            .last_version
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
            .unwrap_or_else(|last| last);
        Version::next(Version::new(last), now)
    }

    fn swap(&self, key: &Key, expect: Expect, next: &Next) -> StoreResult<Swap> {
        let mut shard = self.shard(key).lock();
        let now = self.clock.now();
        if !matches!(next, Next::Put { .. })
            && let Err(there) = shard.check(key, expect, now)
        {
            return Ok(Swap::Lost(there));
        }
        match next {
            Next::Put { value, lease, keep } => {
                self.put(&mut shard, (key, expect), value, (*lease, *keep), now)
            }
            Next::Renew { lease, keep } => {
                let version = self.next_version(now);
                let (lease, keep) = deadlines(now, *lease, *keep);
                shard.renew(key, version, lease, keep);
                Ok(Swap::Won(Stamp { version, now }))
            }
            Next::Delete => {
                let version = self.next_version(now);
                self.discharge(key, shard.remove(key));
                Ok(Swap::Won(Stamp { version, now }))
            }
        }
    }

    fn put(
        &self,
        shard: &mut Shard,
        (key, expect): (&Key, Expect),
        value: &Bytes,
        (lease, keep): (Ttl, Ttl),
        now: StoreTime,
    ) -> StoreResult<Swap> {
        let mut version = Version::new(0);
        let put = shard.put(key, expect, now, |Room { fresh, freed }| {
            let freed = freed.map_or(0, |bytes| cost(key, bytes));
            self.charge(fresh, freed, cost(key, value.len()))?;
            version = self.next_version(now);
            let (lease, keep) = deadlines(now, lease, keep);
            Ok(Slot { version, value: value.clone(), lease, keep })
        })?;
        if let Err(there) = put {
            return Ok(Swap::Lost(there));
        }
        for _ in 0..SWEPT_BY_PUT {
            let Some((key, slot)) = shard.pop_ended(now) else { break };
            self.discharge(&key, Some(slot));
        }
        Ok(Swap::Won(Stamp { version, now }))
    }

    /// Takes room for a value in place of what is under the key, or refuses.
    fn charge(&self, fresh: bool, freed: usize, needed: usize) -> StoreResult<()> {
        let limit = if fresh { self.limits.for_new() } else { self.limits.total_bytes };
        // What shrinks is always let in: it can only help.
        let fits = |used: usize| {
            let after = (used - freed).checked_add(needed)?;
            (after <= limit || needed <= freed).then_some(after)
        };
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map_err(|used| {
            StoreError::refused(
                Refusal::Full,
                format!("{used} of {} bytes are in use, {needed} more were asked for", limit),
            )
        })?;
        Ok(())
    }

    fn discharge(&self, key: &Key, slot: Option<Slot>) {
        if let Some(slot) = slot {
            self.used.fetch_sub(cost(key, slot.value.len()), Ordering::Relaxed);
        }
    }

    fn sweep(&self, limit: usize) -> usize {
        let now = self.clock.now();
        let mut swept = 0;
        // Each call begins at another shard, so that small limits reach them all.
        let first = self.swept_next.fetch_add(1, Ordering::Relaxed);
        for offset in 0..SHARDS {
            let mut shard = self.shards[first.wrapping_add(offset) % SHARDS].lock();
            while swept < limit {
                let Some((key, slot)) = shard.pop_ended(now) else { break };
                self.discharge(&key, Some(slot));
                swept += 1;
            }
        }
        swept
    }

    fn check_size(&self, next: &Next) -> StoreResult<()> {
        match next {
            Next::Put { value, .. } if value.len() > self.limits.value_bytes => {
                Err(StoreError::refused(
                    Refusal::TooLarge,
                    format!(
                        "the value has {} bytes, the limit is {}",
                        value.len(),
                        self.limits.value_bytes
                    ),
                ))
            }
            _ => Ok(()),
        }
    }

    /// The `limit` smallest entries that match, over all shards.
    fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> Page {
        let now = self.clock.now();
        let mut found: BTreeMap<Key, Entry> = BTreeMap::new();
        for shard in &self.shards {
            for (key, entry) in shard.lock().matching(prefix, after, now) {
                found.insert(key.clone(), entry);
                if found.len() > limit {
                    found.pop_last();
                }
            }
        }
        let next = (limit > 0 && found.len() == limit)
            .then(|| found.last_key_value().map(|(key, _)| key.clone()))
            .flatten();
        Page { now, entries: found.into_iter().collect(), next }
    }
}

/// The ends of a lease and a keep that begin now; a lease never outlasts its keep.
fn deadlines(now: StoreTime, lease: Ttl, keep: Ttl) -> (StoreTime, StoreTime) {
    let keep = now.after(keep);
    (now.after(lease).min(keep), keep)
}

fn cost(key: &Key, value: usize) -> usize {
    key.as_str().len() + value + MemoryLimits::OVERHEAD
}

#[async_trait]
impl Store for MemoryStore {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        self.0.check_size(&next)?;
        let swap = loop {
            match self.0.swap(key, expect, &next) {
                // Full: what has ended makes room first, as much as it takes.
                Err(_) if self.0.sweep(SWEPT_WHEN_FULL) > 0 => {}
                swap => break swap?,
            }
        };
        if matches!(swap, Swap::Won(_)) {
            self.0.hints.notify(key);
        }
        Ok(swap)
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        let mut shard = self.0.shard(key).lock();
        let now = self.0.clock.now();
        shard.touch(key, touch, now);
        Ok(shard.snapshot(key, now))
    }

    fn changed(&self, key: &Key) -> Hint {
        self.0.hints.wait(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        Ok(self.0.scan(prefix, after, limit))
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        Ok(self.0.sweep(limit))
    }
}
