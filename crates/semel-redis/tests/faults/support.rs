//! What the tests are written with.

use std::time::Duration;

use bytes::Bytes;
use semel_core::{
    Entry, Expect, Key, Next, Stamp, Store, StoreError, StoreErrorKind, Swap, Touch, Ttl,
};
use semel_redis::{RedisBuilder, RedisStore};

pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn ttl(duration: Duration) -> Ttl {
    Ttl::new(duration).expect("a time to live")
}

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

/// A store that gives up soon, so that faults show.
pub(crate) fn hasty(url: &str) -> RedisBuilder {
    RedisStore::builder(url).response_timeout(millis(250)).patience(millis(100))
}

/// A store that waits for servers to come back, so that faults don't show.
pub(crate) fn patient(url: &str) -> RedisBuilder {
    RedisStore::builder(url).response_timeout(LIMIT).connect_timeout(LIMIT).patience(LIMIT)
}

pub(crate) async fn open(builder: RedisBuilder) -> RedisStore {
    builder.open().await.expect("a store")
}

pub(crate) fn put(value: impl Into<Bytes>, lease: Duration, keep: Duration) -> Next {
    Next::Put { value: value.into(), lease: ttl(lease), keep: ttl(keep) }
}

/// A put that does not end while a test runs.
pub(crate) fn lasting(value: impl Into<Bytes>) -> Next {
    put(value, Duration::from_secs(3_600), Duration::from_secs(7_200))
}

pub(crate) async fn claim(store: &RedisStore, key: &Key, value: &str) -> Result<Swap, StoreError> {
    store.swap(key, Expect::Absent, lasting(value.to_owned())).await
}

pub(crate) fn won(swap: Result<Swap, StoreError>) -> Stamp {
    match swap {
        Ok(Swap::Won(stamp)) => stamp,
        other => panic!("it must win: {other:?}"),
    }
}

pub(crate) fn lost(swap: Result<Swap, StoreError>) -> Entry {
    match swap {
        Ok(Swap::Lost(there)) => there.entry.expect("something must be there"),
        other => panic!("it must lose: {other:?}"),
    }
}

pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, StoreError>) -> StoreErrorKind {
    result.expect_err("it must fail").kind()
}

pub(crate) async fn value(store: &RedisStore, key: &Key) -> Option<Bytes> {
    let seen = store.read(key, Touch::No).await.expect("a read");
    seen.entry.map(|entry| entry.value)
}

/// Tries until the store works again.
pub(crate) async fn recovered(store: &RedisStore) {
    semel_testkit::eventually(LIMIT, "a store that works again", || async {
        store.read(&key("recovered"), Touch::No).await.ok()
    })
    .await
    .expect("it must recover");
}
