//! A store that a test can spoil by what is written, and that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use semel::core::{
    Expect, Hint, Key, Next, Page, Refusal, Snapshot, Store, StoreError, StoreErrorKind,
    StoreResult, Swap, Touch,
};

use super::memory;

/// What is about to be done to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// A claim, or a takeover.
    Claim,
    /// An outcome of so many bytes, or a mark of doubt.
    Finish(usize),
    Renew,
    Release,
    Read,
}

/// What comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comes {
    Through,
    /// It fails so, and the store never hears of it.
    Before(StoreErrorKind),
    /// It is done, and the reply is lost so.
    After(StoreErrorKind),
}

type Rule = Box<dyn Fn(Doing) -> Comes + Send + Sync>;

/// A memory store under a rule.
pub(crate) struct Ruled {
    inner: semel::MemoryStore,
    rule: Rule,
    swaps: AtomicU64,
    reads: AtomicU64,
    hints: AtomicU64,
}

impl Ruled {
    pub(crate) fn new(rule: impl Fn(Doing) -> Comes + Send + Sync + 'static) -> Arc<Self> {
        Self::over(memory(), rule)
    }

    pub(crate) fn over(
        inner: semel::MemoryStore,
        rule: impl Fn(Doing) -> Comes + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (swaps, reads, hints) = Default::default();
        Arc::new(Self { inner, rule: Box::new(rule), swaps, reads, hints })
    }

    /// Refuses every renewal: claims last for one lease.
    pub(crate) fn without_renewal() -> Arc<Self> {
        Self::new(|doing| match doing {
            Doing::Renew => Comes::Before(StoreErrorKind::NotApplied),
            _ => Comes::Through,
        })
    }

    /// Only counts.
    pub(crate) fn counting() -> Arc<Self> {
        Self::new(|_| Comes::Through)
    }

    pub(crate) fn swaps(&self) -> u64 {
        self.swaps.load(Ordering::SeqCst)
    }

    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::SeqCst)
    }

    pub(crate) fn hints(&self) -> u64 {
        self.hints.load(Ordering::SeqCst)
    }
}

impl std::fmt::Debug for Ruled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ruled")
    }
}

fn doing(next: &Next, claim_lease: bool) -> Doing {
    match next {
        // A record that is done has no lease.
        Next::Put { .. } if claim_lease => Doing::Claim,
        Next::Put { value, .. } => Doing::Finish(value.len()),
        Next::Renew { .. } => Doing::Renew,
        Next::Delete => Doing::Release,
    }
}

#[async_trait]
impl Store for Ruled {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        self.swaps.fetch_add(1, Ordering::SeqCst);
        let leased = matches!(&next, Next::Put { lease, .. } if !lease.is_zero());
        match (self.rule)(doing(&next, leased)) {
            Comes::Through => self.inner.swap(key, expect, next).await,
            Comes::Before(kind) => Err(StoreError::of(kind, "as the test wants it")),
            Comes::After(kind) => {
                // Whatever the reply was, it is lost.
                let _ = self.inner.swap(key, expect, next).await;
                Err(StoreError::of(kind, "as the test wants it"))
            }
        }
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        match (self.rule)(Doing::Read) {
            Comes::Through => self.inner.read(key, touch).await,
            Comes::Before(kind) | Comes::After(kind) => {
                Err(StoreError::of(kind, "as the test wants it"))
            }
        }
    }

    fn changed(&self, key: &Key) -> Hint {
        self.hints.fetch_add(1, Ordering::SeqCst);
        self.inner.changed(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        self.inner.scan(prefix, after, limit).await
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        self.inner.sweep(limit).await
    }
}

pub(crate) const NOT_APPLIED: StoreErrorKind = StoreErrorKind::NotApplied;
pub(crate) const UNKNOWN: StoreErrorKind = StoreErrorKind::Unknown;
pub(crate) const FULL: StoreErrorKind = StoreErrorKind::Refused(Refusal::Full);
