//! The memory store as a fixture, bare or under a wrapper.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use semel_core::conformance::{Abilities, Fixture, Reopen, Task};
use semel_core::{ManualClock, MemoryLimits, MemoryStore, Store, StoreTime};

/// A moment in 2026, in microseconds.
const START: StoreTime = StoreTime::from_micros(1_790_000_000_000_000);
/// The largest value of the store beneath.
pub(crate) const VALUE_LIMIT: usize = 64 << 10;

/// A clock that stands still until the test moves it.
pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(START))
}

/// What the bare store can do: everything.
pub(crate) fn abilities() -> Abilities {
    Abilities::full(VALUE_LIMIT, Duration::from_secs(1))
}

/// Puts a wrapper around a memory store.
type Wrap = Arc<dyn Fn(MemoryStore) -> Arc<dyn Store> + Send + Sync>;

pub(crate) struct MemoryFixture {
    clock: Arc<ManualClock>,
    memory: MemoryStore,
    store: Arc<dyn Store>,
    wrap: Wrap,
    abilities: Abilities,
}

impl MemoryFixture {
    /// The bare store.
    pub(crate) fn new() -> Self {
        Self::wrapped(Abilities::full(VALUE_LIMIT, Duration::from_secs(1)), |store| Arc::new(store))
    }

    /// The store under a wrapper that changes these abilities.
    pub(crate) fn wrapped(
        abilities: Abilities,
        wrap: impl Fn(MemoryStore) -> Arc<dyn Store> + Send + Sync + 'static,
    ) -> Self {
        let clock = clock();
        let memory = memory(&clock);
        let wrap: Wrap = Arc::new(wrap);
        Self { store: wrap(memory.clone()), clock, memory, wrap, abilities }
    }
}

fn memory(clock: &Arc<ManualClock>) -> MemoryStore {
    let limits = MemoryLimits { value_bytes: VALUE_LIMIT, ..MemoryLimits::default() };
    MemoryStore::with_limits(Arc::clone(clock), limits)
}

impl fmt::Debug for MemoryFixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryFixture").field("store", &self.store).finish_non_exhaustive()
    }
}

#[async_trait]
impl Fixture for MemoryFixture {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    async fn second_handle(&self) -> Arc<dyn Store> {
        (self.wrap)(self.memory.clone())
    }

    async fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    async fn reopen(&self) -> Reopen {
        Reopen::Volatile((self.wrap)(memory(&self.clock)))
    }

    fn spawn(&self, task: Task) -> Task {
        let running = tokio::spawn(task);
        Box::pin(async move { running.await.expect("a task of a case") })
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }
}
