//! The kinds of stores, and which of them are built in.

use std::sync::Arc;

use semel_core::cocommit::Transactions;
use semel_core::{MemoryStore, Preflight, Store};

use super::error::OpenError;
use crate::timer::SystemClock;

/// A kind of store, as a URL's scheme names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Sqlite,
    Redis,
    Postgres,
}

impl Kind {
    pub(super) fn of(url: &str) -> Result<Self, OpenError> {
        let (scheme, rest) = url.split_once(':').ok_or(OpenError::NoScheme)?;
        match &*scheme.to_ascii_lowercase() {
            "memory" if rest.is_empty() => Ok(Self::Memory),
            "memory" => Err(OpenError::Malformed { scheme: "memory", takes: "memory:" }),
            "sqlite" => Ok(Self::Sqlite),
            "redis" | "rediss" | "redis-sentinel" | "rediss-sentinel" | "redis-cluster"
            | "rediss-cluster" => Ok(Self::Redis),
            "postgres" | "postgresql" => Ok(Self::Postgres),
            other if may_be_shown(other) => Err(OpenError::UnknownScheme { scheme: other.into() }),
            _ => Err(OpenError::NoScheme),
        }
    }

    pub(super) async fn open(self, url: &str) -> Result<Arc<dyn Store>, OpenError> {
        match self {
            Self::Memory => Ok(Arc::new(MemoryStore::new(SystemClock::new()))),
            Self::Sqlite => sqlite::open(url).await,
            Self::Redis => redis::open(url).await,
            Self::Postgres => postgres::open(url).await,
        }
    }

    pub(super) async fn open_with_transactions(
        self,
        url: &str,
    ) -> Result<Arc<dyn Transactions>, OpenError> {
        match self {
            Self::Memory => Err(OpenError::NoTransactions { scheme: "memory" }),
            Self::Redis => Err(OpenError::NoTransactions { scheme: "redis" }),
            Self::Sqlite => sqlite::open_with_transactions(url).await,
            Self::Postgres => postgres::open_with_transactions(url).await,
        }
    }

    pub(super) async fn preflight(self, url: &str) -> Result<Preflight, OpenError> {
        match self {
            Self::Memory => Ok(memory()),
            Self::Sqlite => sqlite::preflight(url).await,
            Self::Redis => redis::preflight(url).await,
            Self::Postgres => postgres::preflight(url).await,
        }
    }
}

/// Whether this looks like a kind of store, and may be shown. What comes before the first `:` may
/// as well be a part of somebody's credentials.
fn may_be_shown(scheme: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c == '+' || c == '-';
    !scheme.is_empty() && scheme.len() <= 20 && scheme.chars().all(letters)
}

fn memory() -> Preflight {
    let mut preflight = Preflight::of("memory of this process");
    preflight.warn(
        "durability",
        "everything is forgotten when the process ends: a retry after a restart runs again",
        "use sqlite:FILE, or a server, where that must not be",
    );
    preflight.warn(
        "sharing",
        "no other process sees it",
        "use sqlite:FILE for several processes of one machine, or a server for several machines",
    );
    preflight
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::{Arc, OpenError, Preflight, Store, Transactions};
    use semel_sqlite::{SqliteStore, Transactional};

    pub(super) async fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
        Ok(Arc::new(SqliteStore::open(path(url)?).await?))
    }

    pub(super) async fn open_with_transactions(
        url: &str,
    ) -> Result<Arc<dyn Transactions>, OpenError> {
        Ok(Arc::new(Transactional::new(&SqliteStore::open(path(url)?).await?)))
    }

    pub(super) async fn preflight(url: &str) -> Result<Preflight, OpenError> {
        Ok(SqliteStore::open(path(url)?).await?.preflight())
    }

    fn path(url: &str) -> Result<&str, OpenError> {
        let rest = url.split_once(':').map_or("", |(_, rest)| rest);
        let path = rest.strip_prefix("//").unwrap_or(rest);
        // SQLite's own URIs take parameters behind a `?`. Here they would become a part of the
        // name.
        if path.is_empty() || path.contains('?') {
            return Err(OpenError::Malformed { scheme: "sqlite", takes: "sqlite:FILE" });
        }
        Ok(path)
    }
}

#[cfg(feature = "redis")]
mod redis {
    use super::{Arc, OpenError, Preflight, Store};
    use semel_redis::RedisStore;

    pub(super) async fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
        Ok(Arc::new(RedisStore::open(url).await?))
    }

    pub(super) async fn preflight(url: &str) -> Result<Preflight, OpenError> {
        Ok(RedisStore::builder(url).examine().await?)
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{Arc, OpenError, Preflight, Store, Transactions};
    use semel_postgres::{PostgresStore, Transactional};

    pub(super) async fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
        Ok(Arc::new(PostgresStore::open(url).await?))
    }

    pub(super) async fn open_with_transactions(
        url: &str,
    ) -> Result<Arc<dyn Transactions>, OpenError> {
        Ok(Arc::new(Transactional::new(&PostgresStore::open(url).await?)))
    }

    pub(super) async fn preflight(url: &str) -> Result<Preflight, OpenError> {
        Ok(PostgresStore::builder(url).preflight().await?)
    }
}

macro_rules! left_out {
    ($($kind:ident: $feature:literal $(, $open:ident)?);+ $(;)?) => {$(
        #[cfg(not(feature = $feature))]
        mod $kind {
            use super::{Arc, OpenError, Preflight, Store};

            const NOT_BUILT_IN: OpenError =
                OpenError::NotBuiltIn { scheme: stringify!($kind), feature: $feature };

            pub(super) async fn open(_: &str) -> Result<Arc<dyn Store>, OpenError> {
                Err(NOT_BUILT_IN)
            }

            $(pub(super) async fn $open(_: &str) -> Result<Arc<dyn super::Transactions>, OpenError> {
                Err(NOT_BUILT_IN)
            })?

            pub(super) async fn preflight(_: &str) -> Result<Preflight, OpenError> {
                Err(NOT_BUILT_IN)
            }
        }
    )+};
}

left_out! {
    sqlite: "sqlite", open_with_transactions;
    redis: "redis";
    postgres: "postgres", open_with_transactions;
}
