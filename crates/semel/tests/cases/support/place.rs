//! Stores of every kind.

use std::sync::Arc;

use semel::timer::SystemClock;
use semel::{MemoryStore, Once, Store};
use semel_testkit::StorePlace;

/// A store that several engines share.
pub(crate) enum Place {
    Memory(Arc<dyn Store>),
    Shared(Box<StorePlace>),
}

impl Place {
    pub(crate) fn memory() -> Self {
        Self::Memory(Arc::new(MemoryStore::new(SystemClock::new())))
    }

    pub(crate) fn file() -> Self {
        Self::Shared(Box::new(StorePlace::file().unwrap()))
    }

    pub(crate) async fn redis() -> Self {
        Self::Shared(Box::new(StorePlace::redis().await.unwrap()))
    }

    pub(crate) async fn postgres() -> Self {
        Self::Shared(Box::new(StorePlace::postgres().await.unwrap()))
    }

    /// An engine with connections of its own, as another process would have it.
    pub(crate) async fn engine(&self) -> Once {
        match self {
            Self::Memory(store) => Once::new(Arc::clone(store)),
            Self::Shared(place) => engine(place.url()).await,
        }
    }
}

pub(crate) async fn engine(url: &str) -> Once {
    Once::new(semel::open(url).await.unwrap())
}
