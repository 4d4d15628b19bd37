//! The end of a store: what waited is run, and nothing stays.

use std::fs;
use std::path::Path;

use semel_core::{Expect, Store, StoreErrorKind};

use crate::child::Other;
use crate::support::{
    Place, UNUSABLE, assert_error, claim, key, open, poll_once, put, until, version, won,
};

#[tokio::test]
async fn calls_that_wait_are_run_before_a_store_closes() {
    let place = Place::new();
    let store = place.open().await;
    let lock = place.lock();
    let mut calls: Vec<_> = (0..50).map(|call| Box::pin(claim(&store, call))).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_none());
    }
    let mut closing = Box::pin(store.close());
    assert!(poll_once(&mut closing).await.is_none());
    drop(lock);
    for call in calls {
        won(call.await);
    }
    closing.await;
    let again = place.open().await;
    for call in 0..50 {
        assert!(version(&again, call).await.is_some());
    }
}

#[tokio::test]
async fn a_closed_store_refuses_through_every_handle() {
    let place = Place::new();
    let store = place.open().await;
    let other = store.clone();
    store.close().await;
    store.close().await;
    for error in [
        claim(&other, "a").await.unwrap_err(),
        other.read(&key("a"), semel_core::Touch::No).await.unwrap_err(),
        other.scan("", None, 1).await.unwrap_err(),
        other.sweep(1).await.unwrap_err(),
    ] {
        assert_error(&error, UNUSABLE);
        assert!(error.message().contains("closed"), "{error}");
    }
}

#[tokio::test]
async fn a_closed_file_has_nothing_beside_it() {
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "a").await);
    drop(store);
    let left: Vec<_> = fs::read_dir(place.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["store.db"]);
}

#[tokio::test]
async fn threads_and_files_end_with_the_store() {
    let place = Place::new();
    assert_eq!(Other::start("threads", &place.path()).finish(), ["same"]);
}

/// In a process of its own, where nobody else starts threads or opens files.
pub(crate) async fn threads_and_files_come_and_go(file: &Path) {
    // A first time, for what is made once in a process.
    use_it(file).await;
    let before = (count("/proc/self/task"), count("/proc/self/fd"));
    for _ in 0..20 {
        use_it(file).await;
    }
    until("the threads to end", async || {
        (count("/proc/self/task"), count("/proc/self/fd")) == before
    })
    .await;
    crate::child::say("same");
}

async fn use_it(file: &Path) {
    let store = open(file).await;
    let hint = store.changed(&key("a"));
    won(store.swap(&key("a"), Expect::Any, put("x")).await);
    hint.await;
    let other = store.clone();
    drop(store);
    drop(other);
}

fn count(directory: &str) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// The path leads elsewhere now: what is written to the old file nobody would ever see.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_is_moved_away_ends_the_store() {
    for replaced in [false, true] {
        let place = Place::new();
        let store = place.open().await;
        won(claim(&store, "a").await);
        fs::rename(place.path(), place.directory.path().join("moved.db")).unwrap();
        if replaced {
            fs::write(place.path(), "").unwrap();
        }
        let error = claim(&store, "b").await.unwrap_err();
        assert_error(&error, UNUSABLE);
        assert!(error.message().contains("moved"), "{error}");
        let error = store.read(&key("a"), semel_core::Touch::No).await.unwrap_err();
        assert_error(&error, UNUSABLE);
    }
}

#[tokio::test]
async fn a_schema_that_becomes_newer_while_it_is_open_ends_the_store() {
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "a").await);
    place.connect().pragma_update(None, "user_version", 2).unwrap();
    let error = claim(&store, "b").await.unwrap_err();
    assert_error(&error, UNUSABLE);
    assert!(error.message().contains("version 2"), "{error}");
    assert_ne!(error.kind(), StoreErrorKind::NotApplied);
}
