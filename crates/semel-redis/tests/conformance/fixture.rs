//! A store on real servers, as the suite wants it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use semel_core::Store;
use semel_core::conformance::{Abilities, Fixture, Reopen, Sweeping, Task};
use semel_redis::{RedisBuilder, RedisStore};
use semel_testkit::RedisServer;
use tokio::sync::Mutex;

/// The store's own default.
const VALUE_LIMIT: usize = 4 << 20;

/// Tests run beside each other on machines that are slow at times: patience is no promise here.
pub(crate) fn patient(url: &str) -> RedisBuilder {
    let long = Duration::from_secs(20);
    RedisStore::builder(url).connect_timeout(long).response_timeout(long).patience(long)
}

/// Servers, and the store on them.
pub(crate) struct On<S> {
    servers: Mutex<S>,
    url: String,
    durable: bool,
    store: parking_lot::Mutex<Option<RedisStore>>,
}

impl<S: Servers> On<S> {
    pub(crate) async fn make(servers: S, durable: bool) -> Self {
        let url = servers.url();
        let store = patient(&url).open().await.expect("a store");
        let store = parking_lot::Mutex::new(Some(store));
        Self { servers: Mutex::new(servers), url, durable, store }
    }
}

/// What a fixture does to its servers.
#[async_trait]
pub(crate) trait Servers: Send {
    fn url(&self) -> String;

    /// Ends them and starts them again.
    async fn restart(&mut self);
}

#[async_trait]
impl Servers for RedisServer {
    fn url(&self) -> String {
        Self::url(self)
    }

    async fn restart(&mut self) {
        Self::restart(self).await.expect("a restart");
    }
}

#[async_trait]
impl<S: Servers> Fixture for On<S> {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.lock().clone().expect("it is open"))
    }

    async fn second_handle(&self) -> Arc<dyn Store> {
        Arc::new(patient(&self.url).open().await.expect("a second store"))
    }

    async fn pass(&self, by: Duration) {
        semel_testkit::pass(by).await;
    }

    async fn reopen(&self) -> Reopen {
        *self.store.lock() = None;
        self.servers.lock().await.restart().await;
        let store = patient(&self.url).open().await.expect("a store");
        *self.store.lock() = Some(store.clone());
        let store = Arc::new(store);
        if self.durable { Reopen::Durable(store) } else { Reopen::Volatile(store) }
    }

    fn spawn(&self, task: Task) -> Task {
        let handle = tokio::spawn(task);
        Box::pin(async move { handle.await.expect("a task") })
    }

    fn abilities(&self) -> Abilities {
        let mut abilities = Abilities::full(VALUE_LIMIT, Duration::from_millis(60));
        abilities.sweeping = Sweeping::ByItself;
        abilities
    }
}
