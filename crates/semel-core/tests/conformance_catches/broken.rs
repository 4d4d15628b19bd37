//! A memory store with one bug.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use semel_core::{
    Expect, Hint, Key, MemoryStore, Next, Page, Snapshot, Stamp, Store, StoreResult, Swap, Touch,
    Ttl, Version,
};

/// Bugs that real stores have had, or would have with the first idea that comes to mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    None,
    CheckThenAct,
    ClaimOverwrites,
    DeleteAlwaysWins,
    EmptyIsAbsent,
    KeysCut,
    KeysFoldCase,
    LeaseOutlastsKeep,
    LongOverflows,
    LostShowsNothing,
    Milliseconds,
    ReadRenews,
    RenewEmpties,
    RenewMakes,
    ScanFoldsCase,
    ScanIgnoresCursor,
    ScanSkips,
    ScanUnlimited,
    ScanUnordered,
    ScanWildcards,
    SweepMiscounts,
    SweepTakesLapsed,
    SweepUnlimited,
    TouchIgnored,
    TouchRevives,
    TouchShowsBefore,
    TouchWrites,
    ValuesCut,
    ValuesEndAtZero,
    VersionCut,
    VersionIgnored,
    VersionsRestart,
    ZeroIsForever,
}

#[derive(Debug)]
pub(crate) struct Broken {
    inner: MemoryStore,
    bug: Bug,
    counts: Mutex<HashMap<Key, u64>>,
    /// How many swaps in two steps have come to their second.
    checked: AtomicUsize,
}

impl Broken {
    pub(crate) fn new(inner: MemoryStore, bug: Bug) -> Self {
        Self { inner, bug, counts: Mutex::default(), checked: AtomicUsize::new(0) }
    }

    fn key(&self, key: &Key) -> Key {
        let text = match self.bug {
            Bug::KeysFoldCase => key.as_str().to_lowercase(),
            Bug::KeysCut => key.as_str().chars().take(255).collect(),
            _ => return key.clone(),
        };
        Key::new(text).expect("no longer than it was")
    }

    fn ttl(&self, ttl: Ttl) -> Ttl {
        let micros = match self.bug {
            Bug::ZeroIsForever if ttl.is_zero() => Ttl::MAX.as_micros(),
            Bug::LongOverflows if ttl == Ttl::MAX => 0,
            Bug::Milliseconds => ttl.as_micros() / 1_000 * 1_000,
            _ => ttl.as_micros(),
        };
        Ttl::from_micros(micros).expect("a time to live")
    }

    fn next(&self, next: Next) -> Next {
        match next {
            Next::Put { mut value, lease, keep } => {
                if self.bug == Bug::ValuesCut {
                    value.truncate(1_024);
                }
                if self.bug == Bug::ValuesEndAtZero {
                    let end = value.iter().position(|byte| *byte == 0);
                    value.truncate(end.unwrap_or(value.len()));
                }
                Next::Put { value, lease: self.ttl(lease), keep: self.ttl(keep) }
            }
            Next::Renew { lease, keep } if self.bug == Bug::RenewEmpties => {
                Next::Put { value: Vec::new().into(), lease, keep }
            }
            Next::Renew { lease, keep } => {
                Next::Renew { lease: self.ttl(lease), keep: self.ttl(keep) }
            }
            Next::Delete => Next::Delete,
        }
    }

    fn expect(&self, expect: Expect, there: &Snapshot) -> Expect {
        let cut = |version: Version| version.get() & u64::from(u32::MAX);
        match (self.bug, expect, there.entry.as_ref()) {
            (Bug::ClaimOverwrites, Expect::Absent, _) => Expect::Any,
            (Bug::VersionIgnored, Expect::Version(_), Some(_)) => Expect::Any,
            (Bug::VersionCut, Expect::Version(version), Some(entry))
                if cut(version) == cut(entry.version) =>
            {
                Expect::Any
            }
            _ => expect,
        }
    }

    /// Looks first and acts then, as `GET` and `SET` do.
    async fn check_then_act(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        let there = self.inner.read(key, Touch::No).await?;
        self.between_the_steps().await;
        let matches = match expect {
            Expect::Absent => there.entry.is_none(),
            Expect::Version(version) => there.entry.as_ref().is_some_and(|e| e.version == version),
            Expect::Any => true,
        };
        if !matches || (there.entry.is_none() && !matches!(next, Next::Put { .. })) {
            return Ok(Swap::Lost(there));
        }
        let lost = self.inner.swap(key, Expect::Any, next).await?;
        let stamp = Stamp { version: Version::new(u64::MAX), now: there.now };
        Ok(if matches!(lost, Swap::Lost(_)) { Swap::Won(stamp) } else { lost })
    }

    /// Where there is a second call, it gets in between: a case that catches the bug must not need
    /// luck for it. A call that is alone waits in vain, and not for long.
    async fn between_the_steps(&self) {
        let before = self.checked.fetch_add(1, Ordering::SeqCst);
        for _ in 0..5_000 {
            if self.checked.load(Ordering::SeqCst) > before + 1 {
                return;
            }
            // To other tasks of this thread, and to other threads: on a busy machine the second
            // call's is one that stands still.
            tokio::task::yield_now().await;
            std::thread::yield_now();
        }
    }

    /// What the bug makes of an entry on its way back.
    fn shown(&self, mut there: Snapshot) -> Snapshot {
        if self.bug == Bug::EmptyIsAbsent {
            there.entry = there.entry.filter(|entry| !entry.value.is_empty());
        }
        if let Some(entry) = &mut there.entry
            && self.bug == Bug::LeaseOutlastsKeep
            && entry.lease_left == entry.keep_left
        {
            entry.lease_left = Ttl::MAX;
        }
        there
    }

    /// A version counted from one for each entry, as a column `version + 1` would.
    fn restarted(&self, key: &Key, was_there: bool, won: Swap) -> Swap {
        let Swap::Won(stamp) = won else { return won };
        let mut counts = self.counts.lock().expect("no test panics here");
        let last = if was_there { counts.get(key).copied().unwrap_or_default() } else { 0 };
        counts.insert(key.clone(), last + 1);
        Swap::Won(Stamp { version: Version::new(last + 1), ..stamp })
    }
}

#[async_trait]
impl Store for Broken {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        let (key, next) = (self.key(key), self.next(next));
        if self.bug == Bug::CheckThenAct {
            return self.check_then_act(&key, expect, next).await;
        }
        let there = self.inner.read(&key, Touch::No).await?;
        let next = match next {
            Next::Renew { lease, keep } if self.bug == Bug::RenewMakes && there.entry.is_none() => {
                Next::Put { value: Vec::new().into(), lease, keep }
            }
            next => next,
        };
        let deletes = matches!(next, Next::Delete);
        match self.inner.swap(&key, self.expect(expect, &there), next).await? {
            Swap::Lost(there) if self.bug == Bug::LostShowsNothing => {
                Ok(Swap::Lost(Snapshot::absent(there.now)))
            }
            Swap::Lost(there) if self.bug == Bug::DeleteAlwaysWins && deletes => {
                Ok(Swap::Won(Stamp { version: Version::new(u64::MAX), now: there.now }))
            }
            Swap::Lost(there) => Ok(Swap::Lost(self.shown(there))),
            won if self.bug == Bug::VersionsRestart => {
                Ok(self.restarted(&key, there.entry.is_some(), won))
            }
            won => Ok(won),
        }
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        let key = self.key(key);
        let before = self.inner.read(&key, Touch::No).await?;
        let touch = match (self.bug, touch) {
            (Bug::TouchIgnored, _) => Touch::No,
            (Bug::ReadRenews, Touch::No) => Touch::Lease(Ttl::MAX),
            (_, touch) => touch,
        };
        if let (Touch::Lease(lease), Some(entry)) = (touch, &before.entry) {
            let ended = entry.lease_left.is_zero();
            let writes = self.bug == Bug::TouchRevives && ended || self.bug == Bug::TouchWrites;
            if writes {
                let renew = Next::Renew { lease, keep: entry.keep_left };
                let _ = self.inner.swap(&key, Expect::Any, renew).await?;
            }
        }
        let after = self.inner.read(&key, touch).await?;
        Ok(self.shown(if self.bug == Bug::TouchShowsBefore { before } else { after }))
    }

    fn changed(&self, key: &Key) -> Hint {
        self.inner.changed(&self.key(key))
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        let (prefix, after, limit) = match self.bug {
            Bug::ScanWildcards => (prefix.split(['%', '_']).next().unwrap_or(""), after, limit),
            Bug::ScanIgnoresCursor => (prefix, None, limit),
            Bug::ScanUnlimited => (prefix, after, usize::MAX),
            _ => (prefix, after, limit),
        };
        let mut page = self.inner.scan(prefix, after, limit).await?;
        match self.bug {
            Bug::ScanUnordered => page.entries.reverse(),
            Bug::ScanSkips if page.entries.len() > 2 => drop(page.entries.remove(1)),
            Bug::ScanFoldsCase => {
                let other = prefix.to_uppercase();
                if other != prefix {
                    page.entries.extend(self.inner.scan(&other, after, limit).await?.entries);
                }
            }
            _ => {}
        }
        Ok(page)
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        match self.bug {
            Bug::SweepUnlimited => self.inner.sweep(usize::MAX).await,
            Bug::SweepMiscounts => self.inner.sweep(limit).await.map(|swept| swept + 1),
            Bug::SweepTakesLapsed => {
                for (key, entry) in self.inner.scan("", None, limit).await?.entries {
                    if entry.lease_left.is_zero() {
                        let _ = self.inner.swap(&key, Expect::Any, Next::Delete).await?;
                    }
                }
                self.inner.sweep(limit).await
            }
            _ => self.inner.sweep(limit).await,
        }
    }
}
