//! The suite that every store passes, on a real server: a server for each case; and all of it
//! again through a pooler that gives each transaction another of its two server connections.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use semel_core::Store;
use semel_core::conformance::{Abilities, Fixture, Reopen, Task};
use semel_postgres::{HintSource, PostgresBuilder, PostgresStore};
use semel_testkit::{PgBouncer, PostgresServer};

const VALUE_LIMIT: usize = 4 << 20;
const TICK: Duration = Duration::from_millis(100);

/// A store on a server of its own. The second handle shares nothing with the first but the data,
/// as one in another process would.
struct OnServer {
    server: tokio::sync::Mutex<PostgresServer>,
    builder: PostgresBuilder,
    store: Mutex<Option<PostgresStore>>,
    _pooler: Option<PgBouncer>,
}

impl OnServer {
    async fn make(server: PostgresServer, pooler: Option<PgBouncer>) -> Self {
        let builder = match &pooler {
            None => PostgresStore::builder(&server.url()),
            Some(pooler) => {
                PostgresStore::builder(&pooler.url()).hints(HintSource::Url(server.url()))
            }
        };
        let store = builder.clone().open().await.expect("a store");
        let server = tokio::sync::Mutex::new(server);
        Self { server, builder, store: Mutex::new(Some(store)), _pooler: pooler }
    }

    async fn open(&self) -> PostgresStore {
        // A pooler may still hold server connections that a restart has ended.
        semel_testkit::eventually(Duration::from_secs(60), "a store", || async {
            self.builder.clone().open().await.ok()
        })
        .await
        .expect("a store")
    }
}

#[async_trait]
impl Fixture for OnServer {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.lock().clone().expect("it is open"))
    }

    async fn second_handle(&self) -> Arc<dyn Store> {
        Arc::new(self.open().await)
    }

    async fn pass(&self, by: Duration) {
        semel_testkit::pass(by).await;
    }

    /// The server goes down and comes up again too.
    async fn reopen(&self) -> Reopen {
        drop(self.store.lock().take());
        self.server.lock().await.restart().await.expect("the server starts again");
        let store = self.open().await;
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

mod direct {
    use super::*;

    async fn fixture() -> OnServer {
        OnServer::make(PostgresServer::launch().await.expect("a server"), None).await
    }

    semel_core::conformance!(fixture);
}

/// F-125, F-126.
mod through_a_pooler {
    use super::*;

    async fn fixture() -> OnServer {
        let server = PostgresServer::launch().await.expect("a server");
        let pooler = PgBouncer::start(&server).await.expect("a pooler");
        OnServer::make(server, Some(pooler)).await
    }

    semel_core::conformance!(fixture);
}
