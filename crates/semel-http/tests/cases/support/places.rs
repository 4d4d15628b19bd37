//! Stores that several processes can share.

use std::sync::Arc;

use semel::Store;
use semel_testkit::{PostgresServer, RedisServer};
use tempfile::TempDir;

/// A file or a server, which lives as long as this.
pub(crate) struct Place {
    pub(crate) url: String,
    _keeps: Keeps,
}

#[expect(dead_code, reason = "it is there to be dropped")]
enum Keeps {
    Folder(TempDir),
    Redis(RedisServer),
    Postgres(PostgresServer),
}

impl Place {
    /// One of each kind.
    pub(crate) async fn all() -> [Self; 3] {
        let folder = tempfile::tempdir().unwrap();
        let file = format!("sqlite:{}", folder.path().join("semel.db").display());
        let redis = RedisServer::start().await.unwrap();
        let postgres = PostgresServer::launch().await.unwrap();
        [
            Self { url: file, _keeps: Keeps::Folder(folder) },
            Self { url: redis.url(), _keeps: Keeps::Redis(redis) },
            Self { url: postgres.url(), _keeps: Keeps::Postgres(postgres) },
        ]
    }

    /// The store as another process would open it.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        open(&self.url).await
    }
}

/// As [`Place::open`], where only the URL is at hand.
pub(crate) async fn open(url: &str) -> Arc<dyn Store> {
    semel::open(url).await.unwrap()
}
