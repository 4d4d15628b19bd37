//! Locks over SQLite, Redis and PostgreSQL: real time, real servers, several engines as several
//! processes would have them.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod backends;
mod contention;
mod counter;
mod evicted;
mod fail_over;
mod fences;
mod gates;
mod load;
mod lost;
mod lost_many;
mod suite;
mod tier;
mod worker_processes;
mod workers;

use std::sync::Arc;
use std::time::Duration;

use semel::{Locks, Owner, Store};
use semel_testkit::{PostgresServer, RedisServer};

/// A store that several may open, and what keeps it alive.
struct Place {
    url: String,
    _keeps: Keeps,
}

/// Dropped with the test.
#[expect(dead_code, reason = "it is there to be dropped")]
enum Keeps {
    Folder(tempfile::TempDir),
    Redis(RedisServer),
    Postgres(PostgresServer),
}

impl Place {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("locks.db").display());
        Self { url, _keeps: Keeps::Folder(folder) }
    }

    async fn redis() -> Self {
        let server = RedisServer::start().await.unwrap();
        Self { url: server.url(), _keeps: Keeps::Redis(server) }
    }

    async fn postgres() -> Self {
        let server = PostgresServer::launch().await.unwrap();
        Self { url: server.url(), _keeps: Keeps::Postgres(server) }
    }

    /// An engine with connections of its own.
    async fn process(&self, name: &str) -> Locks {
        process(&self.url, name).await
    }
}

async fn process(url: &str, name: &str) -> Locks {
    let store: Arc<dyn Store> = semel::open(url).await.unwrap();
    Locks::with_owner(store, Owner::new(name))
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
