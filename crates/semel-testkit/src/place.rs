//! Where several processes find the same entries.

use std::net::SocketAddr;

use tempfile::TempDir;

use crate::error::{TestkitError, TestkitResult};
use crate::postgres::PostgresServer;
use crate::proxy::FaultProxy;
use crate::redis::RedisServer;

/// A store that several processes can open by its URL, and what keeps it alive: a file, or a
/// server. All of it is gone when this is dropped.
#[derive(Debug)]
pub struct StorePlace {
    url: String,
    keeps: Keeps,
}

#[derive(Debug)]
enum Keeps {
    Folder { _is: TempDir },
    Redis(RedisServer),
    Postgres(PostgresServer),
}

impl StorePlace {
    /// A file of SQLite.
    ///
    /// # Errors
    ///
    /// When no temporary directory can be made.
    pub fn file() -> TestkitResult<Self> {
        let folder = tempfile::tempdir().map_err(TestkitError::system("a folder"))?;
        let url = format!("sqlite:{}", folder.path().join("semel.db").display());
        Ok(Self { url, keeps: Keeps::Folder { _is: folder } })
    }

    /// A Redis server.
    ///
    /// # Errors
    ///
    /// As [`RedisServer::start`].
    pub async fn redis() -> TestkitResult<Self> {
        let server = RedisServer::start().await?;
        Ok(Self { url: server.url(), keeps: Keeps::Redis(server) })
    }

    /// A PostgreSQL server.
    ///
    /// # Errors
    ///
    /// As [`PostgresServer::launch`].
    pub async fn postgres() -> TestkitResult<Self> {
        let server = PostgresServer::launch().await?;
        Ok(Self { url: server.url(), keeps: Keeps::Postgres(server) })
    }

    /// What to open.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server, where it is PostgreSQL.
    #[must_use]
    pub const fn as_postgres(&self) -> Option<&PostgresServer> {
        match &self.keeps {
            Keeps::Postgres(server) => Some(server),
            Keeps::Folder { .. } | Keeps::Redis(_) => None,
        }
    }

    /// A proxy before the server, and the URL through it. None where it is a file.
    ///
    /// # Errors
    ///
    /// As [`FaultProxy::start`].
    pub async fn through_proxy(&self) -> TestkitResult<Option<(FaultProxy, String)>> {
        let address = match &self.keeps {
            Keeps::Folder { .. } => return Ok(None),
            Keeps::Redis(server) => server.address(),
            Keeps::Postgres(server) => SocketAddr::from(([127, 0, 0, 1], server.port())),
        };
        let proxy = FaultProxy::start(address).await?;
        let url = self.url.replace(&address.to_string(), &proxy.address().to_string());
        Ok(Some((proxy, url)))
    }
}
