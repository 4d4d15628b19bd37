//! The suite that every store passes, on a real server: a server for each case.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use semel_core::Store;
use semel_core::conformance::{Abilities, Fixture, Reopen, Task};
use semel_postgres::PostgresStore;
use semel_testkit::PostgresServer;

const VALUE_LIMIT: usize = 4 << 20;
const TICK: Duration = Duration::from_millis(100);

/// A store on a server of its own. The second handle shares nothing with the first but the data,
/// as one in another process would.
struct OnServer {
    server: tokio::sync::Mutex<PostgresServer>,
    url: String,
    store: Mutex<Option<PostgresStore>>,
}

async fn fixture() -> OnServer {
    let server = PostgresServer::launch().await.expect("a server");
    let url = server.url();
    let store = PostgresStore::open(&url).await.expect("a store");
    OnServer { server: tokio::sync::Mutex::new(server), url, store: Mutex::new(Some(store)) }
}

#[async_trait]
impl Fixture for OnServer {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.lock().clone().expect("it is open"))
    }

    async fn second_handle(&self) -> Arc<dyn Store> {
        Arc::new(PostgresStore::open(&self.url).await.expect("a store"))
    }

    async fn pass(&self, by: Duration) {
        semel_testkit::pass(by).await;
    }

    /// The server goes down and comes up again too.
    async fn reopen(&self) -> Reopen {
        drop(self.store.lock().take());
        self.server.lock().await.restart().await.expect("the server starts again");
        let store = PostgresStore::open(&self.url).await.expect("a store");
        *self.store.lock() = Some(store.clone());
        Reopen::Durable(Arc::new(store))
    }

    fn spawn(&self, task: Task) -> Task {
        let handle = tokio::spawn(task);
        Box::pin(async move { handle.await.expect("the task must not panic") })
    }

    fn abilities(&self) -> Abilities {
        Abilities::full(VALUE_LIMIT, TICK)
    }
}

semel_core::conformance!(fixture);
