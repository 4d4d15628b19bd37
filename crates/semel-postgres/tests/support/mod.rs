//! What the tests of this crate share.

#![expect(dead_code, reason = "each file of tests uses a part of it")]

pub(crate) mod cocommit;

use std::time::Duration;

use semel_core::{
    Entry, Expect, Key, Next, Refusal, Stamp, Store, StoreError, StoreErrorKind, StoreResult, Swap,
    Touch, Ttl,
};
use semel_postgres::{PostgresBuilder, PostgresStore};
use semel_testkit::{PostgresServer, eventually};

/// Longer than anything takes here, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

pub(crate) fn ttl(duration: Duration) -> Ttl {
    Ttl::new(duration).expect("a time to live")
}

/// A put that does not end while a test runs.
pub(crate) fn put(value: impl Into<bytes::Bytes>) -> Next {
    let hour = ttl(Duration::from_secs(3_600));
    Next::Put { value: value.into(), lease: hour, keep: hour }
}

pub(crate) async fn server() -> PostgresServer {
    PostgresServer::launch().await.expect("a server")
}

pub(crate) async fn open(server: &PostgresServer) -> PostgresStore {
    PostgresStore::open(&server.url()).await.expect("a store")
}

/// A store that gives up soon, for tests in which it has to.
pub(crate) fn hasty(url: &str) -> PostgresBuilder {
    PostgresStore::builder(url)
        .call_timeout(Duration::from_millis(800))
        .lock_timeout(Duration::from_millis(200))
}

pub(crate) async fn claim(store: &PostgresStore, at: &str) -> StoreResult<Swap> {
    store.swap(&key(at), Expect::Absent, put("claimed")).await
}

pub(crate) async fn win(store: &PostgresStore, at: &str, expect: Expect, next: Next) -> Stamp {
    match store.swap(&key(at), expect, next).await.expect("a swap") {
        Swap::Won(stamp) => stamp,
        Swap::Lost(there) => panic!("it must win; it lost to {there:?}"),
    }
}

pub(crate) async fn look(store: &PostgresStore, at: &str) -> Option<Entry> {
    store.read(&key(at), Touch::No).await.expect("a read").entry
}

pub(crate) fn kind<T: std::fmt::Debug>(result: StoreResult<T>) -> StoreErrorKind {
    result.expect_err("it must fail").kind()
}

pub(crate) const fn refused(refusal: Refusal) -> StoreErrorKind {
    StoreErrorKind::Refused(refusal)
}

/// All that an error says, with its causes.
pub(crate) fn all_of(error: &StoreError) -> String {
    let mut said = format!("{error} {error:?}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        said.push_str(&format!(" / {error} {error:?}"));
        cause = error.source();
    }
    said
}

/// Waits until the store works again.
pub(crate) async fn recovered(store: &PostgresStore) {
    eventually(PATIENCE, "a store that works", || async {
        store.read(&key("any"), Touch::No).await.ok()
    })
    .await
    .expect("it must recover");
}

// ===== a synchronous standby that is not there =====

/// Makes every commit wait for a standby that never comes, and comes back when they do.
pub(crate) async fn miss_a_standby(server: &PostgresServer) {
    set(server, "synchronous_standby_names", "ghost").await;
    eventually(PATIENCE, "commits that wait", || async {
        let commit = server.sql("SELECT pg_logical_emit_message(true, 'a', 'b')");
        let waits = semel_testkit::within(SECOND / 2, "a commit", commit).await.is_err();
        waits.then_some(())
    })
    .await
    .expect("they must wait for the standby");
    cancel_commits(server).await;
}

pub(crate) async fn miss_no_standby(server: &PostgresServer) {
    set(server, "synchronous_standby_names", "").await;
}

/// Has the server stop waiting: the commits are here then, and nowhere else.
pub(crate) async fn cancel_commits(server: &PostgresServer) {
    let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity \
                  WHERE wait_event = 'SyncRep'";
    eventually(PATIENCE, "a commit that waits", || async {
        (server.sql(cancel).await.ok()? != "0").then_some(())
    })
    .await
    .expect("one must wait for the standby");
}

async fn set(server: &PostgresServer, name: &str, value: &str) {
    server.sql(&format!("ALTER SYSTEM SET {name} = '{value}'")).await.expect("a setting");
    server.sql("SELECT pg_reload_conf()").await.expect("a reload");
    eventually(PATIENCE, "the setting", || async {
        (server.sql(&format!("SHOW {name}")).await.ok()? == value).then_some(())
    })
    .await
    .expect("it must be taken up");
}
