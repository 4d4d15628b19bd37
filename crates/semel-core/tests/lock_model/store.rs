//! The store: one entry, a clock, and a counter of versions.

use semel_core::lock::LockEntry;
use semel_core::protocol::Write;
use semel_core::protocol::lock::{LockSeen, SeenLock};
use semel_core::{Expect, StoreTime, Ttl, Version};

/// One entry and its deadlines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Stored {
    pub(crate) version: u64,
    pub(crate) lease: u64,
    pub(crate) keep: u64,
    pub(crate) entry: LockEntry,
}

/// A store of one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Store {
    pub(crate) now: u64,
    last: u64,
    pub(crate) stored: Option<Stored>,
}

impl Store {
    pub(crate) fn seen(&self) -> LockSeen {
        let left = |until: u64| Ttl::from_micros(until.saturating_sub(self.now)).unwrap();
        let entry =
            self.stored.as_ref().filter(|there| self.now < there.keep).map(|there| SeenLock {
                version: Version::new(there.version),
                lease_left: left(there.lease),
                keep_left: left(there.keep),
                entry: there.entry.clone(),
            });
        LockSeen { now: StoreTime::from_micros(self.now), entry }
    }

    /// The version of the write if it was applied.
    pub(crate) fn swap(&mut self, expect: Expect, write: &Write<LockEntry>) -> Option<u64> {
        let there = self.stored.clone().filter(|there| self.now < there.keep);
        let matches = match expect {
            Expect::Absent => there.is_none(),
            Expect::Version(version) => {
                there.as_ref().is_some_and(|there| there.version == version.get())
            }
            Expect::Any => true,
        };
        let needs_entry = !matches!(write, Write::Put { .. });
        if !matches || (needs_entry && there.is_none()) {
            return None;
        }
        let version = (self.last + 1).max(self.now);
        self.last = version;
        let until = |ttl: Ttl| self.now + ttl.as_micros();
        let stored = |entry, lease, keep| {
            let (lease, keep) = (until(lease), until(keep));
            Some(Stored { version, lease: lease.min(keep), keep, entry })
        };
        self.stored = match write {
            Write::Put { record, lease, keep } => stored(record.clone(), *lease, *keep),
            Write::Renew { lease, keep } => stored(there?.entry, *lease, *keep),
            Write::Delete => None,
        };
        Some(version)
    }
}
