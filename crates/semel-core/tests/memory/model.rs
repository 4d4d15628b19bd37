//! The contract in the plainest words: one map, one clock, one counter.

use std::collections::BTreeMap;

use bytes::Bytes;
use semel_core::{
    Entry, Expect, Key, Next, Page, Snapshot, Stamp, StoreTime, Swap, Touch, Ttl, Version,
};

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) now: StoreTime,
    last: Version,
    entries: BTreeMap<String, Kept>,
}

#[derive(Debug, Clone)]
struct Kept {
    version: Version,
    value: Bytes,
    lease_end: StoreTime,
    keep_end: StoreTime,
}

impl Model {
    pub(crate) const fn new(now: StoreTime) -> Self {
        Self { now, last: Version::new(0), entries: BTreeMap::new() }
    }

    fn shown(&self, key: &str) -> Option<Entry> {
        let kept = self.entries.get(key)?;
        (self.now < kept.keep_end).then(|| Entry {
            version: kept.version,
            value: kept.value.clone(),
            lease_left: self.now.until(kept.lease_end),
            keep_left: self.now.until(kept.keep_end),
        })
    }

    fn snapshot(&self, key: &str) -> Snapshot {
        Snapshot { now: self.now, entry: self.shown(key) }
    }

    pub(crate) fn swap(&mut self, key: &Key, expect: Expect, next: Next) -> Swap {
        let there = self.shown(key.as_str());
        let as_expected = match expect {
            Expect::Any => true,
            Expect::Absent => there.is_none(),
            Expect::Version(version) => there.as_ref().is_some_and(|e| e.version == version),
        };
        let (value, ttls) = match (next, there) {
            (Next::Put { value, lease, keep }, _) => (value, Some((lease, keep))),
            (Next::Renew { lease, keep }, Some(there)) => (there.value, Some((lease, keep))),
            (Next::Delete, Some(there)) => (there.value, None),
            (Next::Renew { .. } | Next::Delete, None) => {
                return Swap::Lost(self.snapshot(key.as_str()));
            }
        };
        if !as_expected {
            return Swap::Lost(self.snapshot(key.as_str()));
        }
        self.last = Version::new((self.last.get() + 1).max(self.now.as_micros()));
        self.write(key, value, ttls);
        Swap::Won(Stamp { version: self.last, now: self.now })
    }

    fn write(&mut self, key: &Key, value: Bytes, ttls: Option<(Ttl, Ttl)>) {
        let Some((lease, keep)) = ttls else {
            self.entries.remove(key.as_str());
            return;
        };
        let keep_end = self.now.after(keep);
        let lease_end = self.now.after(lease).min(keep_end);
        let kept = Kept { version: self.last, value, lease_end, keep_end };
        self.entries.insert(key.as_str().to_owned(), kept);
    }

    pub(crate) fn read(&mut self, key: &Key, touch: Touch) -> Snapshot {
        let now = self.now;
        if let (Touch::Lease(lease), Some(kept)) = (touch, self.entries.get_mut(key.as_str()))
            && now < kept.lease_end
        {
            kept.lease_end = now.after(lease).min(kept.keep_end);
        }
        self.snapshot(key.as_str())
    }

    pub(crate) fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> Page {
        let after = after.map_or("", |key| key.as_str());
        let found = self.entries.keys().filter(|key| key.starts_with(prefix) && &***key > after);
        let entries: Vec<_> = found
            .filter_map(|key| Some((Key::new(key.as_str()).ok()?, self.shown(key)?)))
            .take(limit)
            .collect();
        Page { now: self.now, entries, next: None }
    }

    /// How many have ended and were not written since.
    pub(crate) fn ended(&self) -> usize {
        self.entries.values().filter(|kept| kept.keep_end <= self.now).count()
    }

    /// Forgets what has ended.
    pub(crate) fn sweep(&mut self) {
        self.entries.retain(|_, kept| self.now < kept.keep_end);
    }

    /// Bytes of what is there, ended or not, with an overhead for each.
    pub(crate) fn bytes(&self, overhead: usize) -> usize {
        self.entries.iter().map(|(key, kept)| key.len() + kept.value.len() + overhead).sum()
    }
}
