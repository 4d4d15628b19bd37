//! What the tests share.

use std::sync::Arc;
use std::time::Duration;

use semel::cache::{Cache, CacheError, Lifetime};
use semel::core::{
    Expect, Fault, FaultAction, Key, ManualClock, Next, StoreErrorKind, StoreOp, StoreTime, Swap,
    Touch, Ttl,
};
use semel::{MemoryStore, Store};

pub(crate) type Faulty = Fault<MemoryStore>;

/// A cache over a store that counts its calls and fails on demand, and the store's clock.
pub(crate) struct Bench {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Faulty,
    pub(crate) cache: Cache,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_790_000_000_000_000)));
        let store = Fault::new(MemoryStore::new(Arc::clone(&clock)));
        let cache = Cache::new(Arc::new(store.clone()));
        Self { clock, store, cache }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(secs(seconds));
    }

    /// How many swaps and reads there were.
    pub(crate) fn trips(&self) -> (u64, u64) {
        (self.store.calls(StoreOp::Swap), self.store.calls(StoreOp::Read))
    }

    /// The next swap is applied, and its reply lost.
    pub(crate) fn lose_reply(&self) {
        self.store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    }

    /// The next swap is lost on its way, and nobody knows.
    pub(crate) fn lose_request(&self) {
        self.store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::Unknown));
    }

    pub(crate) fn fail(&self, op: StoreOp, kind: StoreErrorKind) {
        self.store.next(op, FaultAction::FailBefore(kind));
    }

    pub(crate) async fn value(&self, key: &str) -> Option<Vec<u8>> {
        self.cache.get(key).await.unwrap().map(|bytes| bytes.to_vec())
    }

    pub(crate) async fn set(&self, key: &str, value: &'static str, lifetime: Lifetime) {
        self.cache.set(key, value, lifetime).await.unwrap();
    }

    /// Whether bytes are kept under a key, whatever the cache says of them.
    pub(crate) async fn is_kept(&self, key: &str) -> bool {
        let key = Key::cache(None, key).unwrap();
        self.store.inner().read(&key, Touch::No).await.unwrap().entry.is_some()
    }

    /// Puts bytes under a key that no cache wrote.
    pub(crate) async fn damage(&self, key: &str) {
        let key = Key::cache(None, key).unwrap();
        let value = bytes::Bytes::from_static(b"?");
        let next = Next::Put { value, lease: Ttl::MAX, keep: Ttl::MAX };
        let swap = self.store.inner().swap(&key, Expect::Any, next).await.unwrap();
        assert!(matches!(swap, Swap::Won(_)));
    }
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn is_damaged<T>(result: &Result<T, CacheError>) -> bool {
    matches!(result, Err(CacheError::Damaged(_)))
}
