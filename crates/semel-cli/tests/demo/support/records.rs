//! The store that the scenarios run on: SQLite, or a server of each test's own.
//!
//! `SEMEL_DEMO_STORE=redis` or `=postgres` runs the scenarios on that; without it they run on
//! SQLite. Scenarios that look into the file of the records (module `storage`) are for SQLite
//! alone.

use semel_testkit::{AppendFsync, PostgresServer, RedisServer};

/// The variable that chooses.
const CHOICE: &str = "SEMEL_DEMO_STORE";

/// Where the records are. A server ends with this value.
#[derive(Debug)]
pub(crate) enum Records {
    Sqlite,
    Redis(RedisServer),
    Postgres(Box<PostgresServer>),
}

impl Records {
    /// The chosen store, started where it is a server.
    pub(crate) async fn start() -> Self {
        match std::env::var(CHOICE).as_deref() {
            Err(_) | Ok("sqlite") => Self::Sqlite,
            Ok("redis") => {
                let durable = RedisServer::builder().append_only(AppendFsync::BySystem);
                Self::Redis(durable.start().await.expect("a Redis server"))
            }
            Ok("postgres") => {
                let server = PostgresServer::launch().await.expect("a PostgreSQL server");
                Self::Postgres(Box::new(server))
            }
            Ok(other) => panic!("{CHOICE}={other}: it takes sqlite, redis or postgres"),
        }
    }

    /// The server's URL; none for SQLite, whose file lies with the others.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Self::Sqlite => None,
            Self::Redis(server) => Some(server.url()),
            Self::Postgres(server) => Some(server.url()),
        }
    }
}
