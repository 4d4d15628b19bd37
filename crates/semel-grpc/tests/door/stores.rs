//! The same on every store, as several servers share one.

use std::sync::Arc;
use std::time::Duration;

use semel::{MemoryStore, Once, Store, timer::SystemClock};
use semel_testkit::StorePlace;
use tokio::task::JoinSet;
use tonic::Response;

use crate::support::{Running, Shop, over};

/// A store that several may open.
pub(crate) enum Place {
    Memory(Arc<MemoryStore>),
    Shared(Box<StorePlace>),
}

impl Place {
    pub(crate) async fn memory() -> Self {
        Self::Memory(Arc::new(MemoryStore::new(SystemClock::new())))
    }

    pub(crate) async fn sqlite() -> Self {
        Self::Shared(Box::new(StorePlace::file().unwrap()))
    }

    pub(crate) async fn redis() -> Self {
        Self::Shared(Box::new(StorePlace::redis().await.unwrap()))
    }

    pub(crate) async fn postgres() -> Self {
        Self::Shared(Box::new(StorePlace::postgres().await.unwrap()))
    }

    /// A handle of its own, as another process would have.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::clone(store) as Arc<dyn Store>,
            Self::Shared(place) => semel::open(place.url()).await.unwrap(),
        }
    }
}

/// Fifty duplicates over two servers are one execution, and all replies the same bytes.
async fn fifty_duplicates(place: Place) {
    let shop = Shop::with(|asked| async move {
        semel::timer::sleep(Duration::from_millis(100)).await;
        Ok(Response::new(asked.placed()))
    });
    let mut servers = Vec::new();
    for _ in 0..2 {
        let layer = over(Once::new(place.open().await));
        let layer = layer.in_flight(semel::InFlight::Wait(Duration::from_secs(60)));
        servers.push(Running::serve(layer, shop.clone()).await);
    }
    let mut calls = JoinSet::new();
    for call in 0..50 {
        let client = servers[call % 2].client().await;
        calls.spawn(async move { client.raw_order("k").await.unwrap() });
    }
    let mut replies = calls.join_all().await;
    let firsts = replies.extract_if(.., |reply| !reply.headers.contains_key("idempotent-replayed"));
    let firsts: Vec<_> = firsts.collect();
    assert_eq!((firsts.len(), replies.len()), (1, 49));
    for reply in replies {
        assert_eq!(reply.unmarked(), firsts[0]);
    }
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn fifty_duplicates_are_one_execution_on_memory() {
    fifty_duplicates(Place::memory().await).await;
}

#[tokio::test]
async fn fifty_duplicates_are_one_execution_on_sqlite() {
    fifty_duplicates(Place::sqlite().await).await;
}

#[tokio::test]
async fn fifty_duplicates_are_one_execution_on_redis() {
    fifty_duplicates(Place::redis().await).await;
}

#[tokio::test]
async fn fifty_duplicates_are_one_execution_on_postgres() {
    fifty_duplicates(Place::postgres().await).await;
}
