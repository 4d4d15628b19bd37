//! The cache over memory, SQLite, Redis and PostgreSQL: real time, real servers, several caches as
//! several processes would have them.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod failing;
mod suite;

use std::sync::Arc;
use std::time::Duration;

use semel::{Cache, Store};
use semel_testkit::{PostgresServer, RedisServer};

/// A store that several may open, and what keeps it alive.
struct Place {
    opens: Opens,
    _keeps: Keeps,
}

enum Opens {
    Url(String),
    /// There is one in a process.
    Memory(Arc<dyn Store>),
}

/// Dropped with the test.
#[expect(dead_code, reason = "it is there to be dropped")]
enum Keeps {
    Nothing,
    Folder(tempfile::TempDir),
    Redis(RedisServer),
    Postgres(PostgresServer),
}

impl Place {
    async fn memory() -> Self {
        let store = semel::open("memory:").await.unwrap();
        Self { opens: Opens::Memory(store), _keeps: Keeps::Nothing }
    }

    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("cache.db").display());
        Self { opens: Opens::Url(url), _keeps: Keeps::Folder(folder) }
    }

    async fn redis() -> Self {
        let server = RedisServer::start().await.unwrap();
        // The machine may be busy with other tests.
        let url = format!("{}?response_timeout=4s", server.url());
        Self { opens: Opens::Url(url), _keeps: Keeps::Redis(server) }
    }

    async fn postgres() -> Self {
        let server = PostgresServer::launch().await.unwrap();
        Self { opens: Opens::Url(server.url()), _keeps: Keeps::Postgres(server) }
    }

    /// A cache with connections of its own.
    async fn process(&self) -> Cache {
        match &self.opens {
            Opens::Url(url) => Cache::new(semel::open(url).await.unwrap()),
            Opens::Memory(store) => Cache::new(Arc::clone(store)),
        }
    }
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
