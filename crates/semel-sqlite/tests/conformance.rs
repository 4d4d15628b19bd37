//! The suite that every store passes: by a clock moved by hand, and by the machine's own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use semel_core::conformance::{Abilities, Fixture, Reopen, Sweeping, Task};
use semel_core::{ManualClock, Store, StoreTime};
use semel_sqlite::SqliteStore;
use tempfile::TempDir;

const VALUE_LIMIT: usize = 4 << 20;

/// A store in a directory of its own. The second handle is a second store on the same file, with
/// threads and connections of its own, as another process would have.
struct OnFile {
    directory: TempDir,
    clock: Option<Arc<ManualClock>>,
    store: Mutex<Option<SqliteStore>>,
}

impl OnFile {
    async fn make(clock: Option<Arc<ManualClock>>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let fixture = Self { directory, clock, store: Mutex::new(None) };
        let store = fixture.open().await;
        *fixture.store.lock() = Some(store);
        fixture
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("store.db")
    }

    async fn open(&self) -> SqliteStore {
        let builder = SqliteStore::builder(self.path())
            .poll_interval(Duration::from_millis(5))
            // A busy disk has been seen to take longer than the default for one commit.
            .busy_timeout(Duration::from_secs(60));
        let builder = match &self.clock {
            Some(clock) => builder.clock(Arc::<ManualClock>::clone(clock)),
            None => builder,
        };
        builder.open().await.unwrap()
    }
}

#[async_trait]
impl Fixture for OnFile {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.lock().clone().unwrap())
    }

    async fn second_handle(&self) -> Arc<dyn Store> {
        Arc::new(self.open().await)
    }

    async fn pass(&self, by: Duration) {
        match &self.clock {
            Some(clock) => clock.advance(by),
            None => real_wait(by).await,
        }
    }

    async fn reopen(&self) -> Reopen {
        let closed = self.store.lock().take().unwrap();
        closed.close().await;
        let store = self.open().await;
        *self.store.lock() = Some(store.clone());
        Reopen::Durable(Arc::new(store))
    }

    fn spawn(&self, task: Task) -> Task {
        let handle = tokio::spawn(task);
        Box::pin(async move { handle.await.unwrap() })
    }

    fn abilities(&self) -> Abilities {
        let tick = Duration::from_millis(if self.clock.is_some() { 1_000 } else { 60 });
        let mut abilities = Abilities::full(VALUE_LIMIT, tick);
        // A put clears away what ended before it.
        abilities.sweeping = Sweeping::ByItself;
        abilities
    }
}

#[expect(clippy::disallowed_methods, reason = "the machine's clock is what is tested")]
fn real_wait(by: Duration) -> impl Future<Output = ()> {
    tokio::time::sleep(by)
}

mod by_hand {
    use super::*;

    async fn fixture() -> OnFile {
        let start = StoreTime::from_micros(1_780_000_000_000_000);
        OnFile::make(Some(Arc::new(ManualClock::at(start)))).await
    }

    semel_core::conformance!(fixture);
}

mod by_the_machine {
    use super::*;

    async fn fixture() -> OnFile {
        OnFile::make(None).await
    }

    semel_core::conformance!(fixture);
}
