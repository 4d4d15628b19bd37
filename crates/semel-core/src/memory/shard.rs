//! One shard of the memory store: entries, and the order in which they end.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;

use crate::key::Key;
use crate::store::{Entry, Expect, Snapshot, StoreResult, Touch, Version};
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

/// What a put takes the place of.
pub(super) struct Room {
    /// Nothing that is still there.
    pub(super) fresh: bool,
    /// The bytes of the value that took the room, there or not; none where there was none.
    pub(super) freed: Option<usize>,
}

/// What is seen of a live slot, or of none.
fn snapshot(live: Option<&Slot>, now: StoreTime) -> Snapshot {
    Snapshot { now, entry: live.map(|slot| slot.seen_at(now)) }
}

/// Whether a swap may win against a live slot, or against none.
fn matches(expect: Expect, live: Option<&Slot>) -> bool {
    match (expect, live) {
        (Expect::Any, _) | (Expect::Absent, None) => true,
        (Expect::Version(version), Some(slot)) => slot.version == version,
        (Expect::Absent, Some(_)) | (Expect::Version(_), None) => false,
    }
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
    /// Loses where something else is expected, or nothing is there.
    pub(super) fn check(&self, key: &Key, expect: Expect, now: StoreTime) -> Result<(), Snapshot> {
        let live = self.slots.get(key).filter(|slot| now < slot.keep);
        if live.is_some() && matches(expect, live) { Ok(()) } else { Err(snapshot(live, now)) }
    }

    pub(super) fn snapshot(&self, key: &Key, now: StoreTime) -> Snapshot {
        snapshot(self.slots.get(key).filter(|slot| now < slot.keep), now)
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

    /// Puts what `make` gives in place of what is there, if that is expected. One look in the map
    /// for all of it: looking costs more than anything else here.
    pub(super) fn put(
        &mut self,
        key: &Key,
        expect: Expect,
        now: StoreTime,
        make: impl FnOnce(Room) -> StoreResult<Slot>,
    ) -> StoreResult<Result<(), Snapshot>> {
        let place = self.slots.entry(key.clone());
        let occupant = match &place {
            MapEntry::Occupied(there) => Some(there.get()),
            MapEntry::Vacant(_) => None,
        };
        let live = occupant.filter(|slot| now < slot.keep);
        if !matches(expect, live) {
            return Ok(Err(snapshot(live, now)));
        }
        let room = Room { fresh: live.is_none(), freed: occupant.map(|slot| slot.value.len()) };
        let slot = make(room)?;
        let keep = slot.keep;
        match place {
            MapEntry::Vacant(place) => drop(place.insert(slot)),
            MapEntry::Occupied(mut there) => {
                let old = there.insert(slot);
                self.ends.remove(&(old.keep, key.clone()));
            }
        }
        self.ends.insert((keep, key.clone()));
        Ok(Ok(()))
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
