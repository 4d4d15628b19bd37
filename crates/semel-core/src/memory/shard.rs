//! One shard of the memory store: entries, and the order in which they end.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;

use crate::key::Key;
use crate::store::{Entry, Expect, Snapshot, Touch, Version};
use crate::time::StoreTime;

/// Entries with the index of their ends. Every change of one changes the other with it.
#[derive(Default)]
pub(super) struct Shard {
    slots: HashMap<Key, Slot>,
    ends: BTreeSet<(StoreTime, Key)>,
}

pub(super) struct Slot {
    pub(super) version: Version,
    pub(super) value: Bytes,
    pub(super) lease: StoreTime,
    pub(super) keep: StoreTime,
}

impl Slot {
    fn seen_at(&self, now: StoreTime) -> Entry {
        Entry {
            version: self.version,
            value: self.value.clone(),
            lease_left: now.until(self.lease),
            keep_left: now.until(self.keep),
        }
    }
}

impl Shard {
    /// The slot, unless it is past its keep.
    pub(super) fn live(&self, key: &Key, now: StoreTime) -> Option<&Slot> {
        self.slots.get(key).filter(|slot| now < slot.keep)
    }

    /// What takes room under this key, past its keep or not.
    pub(super) fn occupant(&self, key: &Key) -> Option<&Slot> {
        self.slots.get(key)
    }

    pub(super) fn snapshot(&self, key: &Key, now: StoreTime) -> Snapshot {
        Snapshot { now, entry: self.live(key, now).map(|slot| slot.seen_at(now)) }
    }

    pub(super) fn matches(&self, key: &Key, expect: Expect, now: StoreTime) -> bool {
        match (expect, self.live(key, now)) {
            (Expect::Any, _) | (Expect::Absent, None) => true,
            (Expect::Version(version), Some(slot)) => slot.version == version,
            (Expect::Absent, Some(_)) | (Expect::Version(_), None) => false,
        }
    }

    pub(super) fn touch(&mut self, key: &Key, touch: Touch, now: StoreTime) {
        let Touch::Lease(lease) = touch else { return };
        if let Some(slot) = self.slots.get_mut(key)
            && now < slot.keep
            && now < slot.lease
        {
            slot.lease = now.after(lease).min(slot.keep);
        }
    }

    /// Puts the slot in place of whatever was there.
    pub(super) fn put(&mut self, key: &Key, slot: Slot) {
        self.remove(key);
        self.ends.insert((slot.keep, key.clone()));
        self.slots.insert(key.clone(), slot);
    }

    /// The same value under new deadlines and a new version.
    pub(super) fn renew(&mut self, key: &Key, version: Version, lease: StoreTime, keep: StoreTime) {
        if let Some(slot) = self.slots.get_mut(key) {
            self.ends.remove(&(slot.keep, key.clone()));
            self.ends.insert((keep, key.clone()));
            *slot = Slot { version, value: std::mem::take(&mut slot.value), lease, keep };
        }
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Slot> {
        let slot = self.slots.remove(key)?;
        self.ends.remove(&(slot.keep, key.clone()));
        Some(slot)
    }

    /// Removes the entry that ended first, if it has ended.
    pub(super) fn pop_ended(&mut self, now: StoreTime) -> Option<(Key, Slot)> {
        let (end, key) = self.ends.first()?;
        if now < *end {
            return None;
        }
        let key = key.clone();
        let slot = self.remove(&key)?;
        Some((key, slot))
    }

    /// The live entries that begin with `prefix` and come after `after`.
    pub(super) fn matching<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Key>,
        now: StoreTime,
    ) -> impl Iterator<Item = (&'a Key, Entry)> + 'a {
        self.slots
            .iter()
            .filter(move |(key, slot)| now < slot.keep && key.as_str().starts_with(prefix))
            .filter(move |(key, _)| after.is_none_or(|after| *key > after))
            .map(move |(key, slot)| (key, slot.seen_at(now)))
    }
}
