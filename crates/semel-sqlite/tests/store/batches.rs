//! Group commit: calls that wait share a commit, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use semel_core::{Clock, Expect, Store, StoreErrorKind, StoreTime, Swap};
use semel_sqlite::SqliteStore;

use crate::support::{
    FULL, Place, UNUSABLE, assert_error, claim, key, poll_once, put, version, won,
};

#[tokio::test]
async fn calls_that_wait_share_a_commit() {
    let place = Place::new();
    let store = place.open().await;
    let lock = place.lock();
    let mut calls: Vec<_> = (0..200).map(|call| Box::pin(claim(&store, call))).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_none(), "nobody is answered while the file is locked");
    }
    drop(lock);
    let mut versions = Vec::new();
    for call in calls {
        versions.push(won(call.await).version);
    }
    assert!(versions.is_sorted(), "calls are run in the order in which they came");
    let stats = store.stats();
    // The first may have gone ahead alone, and the others filled one batch.
    assert!(stats.calls == 200 && stats.commits <= 2, "{stats:?}");
}

#[tokio::test]
async fn a_batch_is_bounded() {
    let place = Place::new();
    let store = place.open().await;
    let lock = place.lock();
    let mut calls: Vec<_> = (0..1_000).map(|call| Box::pin(claim(&store, call))).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_none());
    }
    drop(lock);
    for call in calls {
        won(call.await);
    }
    let stats = store.stats();
    assert!((4..=6).contains(&stats.commits), "{stats:?}");
}

/// F-86: one that can't be done undoes the batch; all others are done all the same.
#[tokio::test]
async fn a_call_that_fails_fails_alone() {
    let place = Place::new();
    let store = SqliteStore::builder(place.path()).max_file_bytes(1 << 20).open().await.unwrap();
    let existing = won(claim(&store, "existing").await).version;
    let lock = place.lock();
    let mut first = Box::pin(claim(&store, "first"));
    assert!(poll_once(&mut first).await.is_none());
    let mut before: Vec<_> = (0..20).map(|call| Box::pin(claim(&store, call))).collect();
    // It replaces what is there, so that SQLite itself has to find out that it does not fit.
    let (place_key, huge) = (key("existing"), put(vec![0; 2 << 20]));
    let mut large = Box::pin(store.swap(&place_key, Expect::Version(existing), huge));
    let mut after: Vec<_> = (20..40).map(|call| Box::pin(claim(&store, call))).collect();
    for call in &mut before {
        assert!(poll_once(call).await.is_none());
    }
    assert!(poll_once(&mut large).await.is_none());
    for call in &mut after {
        assert!(poll_once(call).await.is_none());
    }
    drop(lock);
    won(first.await);
    for call in before.into_iter().chain(after) {
        won(call.await);
    }
    assert_error(&large.await.unwrap_err(), FULL);
    assert_eq!(version(&store, "existing").await, Some(existing), "what was there stays");
    for call in 0..40 {
        assert!(version(&store, call).await.is_some());
    }
    assert_eq!(store.stats().undone, 1, "{:?}", store.stats());
}

/// A clock that breaks on demand, to break the writer's thread at the worst moment.
#[derive(Debug, Default)]
struct BrokenClock(AtomicBool);

impl Clock for BrokenClock {
    fn now(&self) -> StoreTime {
        assert!(!self.0.load(Ordering::SeqCst), "the clock is broken, as a test wants it");
        StoreTime::from_micros(1_000_000)
    }
}

/// F-86: a panic in the middle of a batch.
#[tokio::test]
async fn a_panic_acknowledges_nobody_and_ends_the_store() {
    let place = Place::new();
    let clock = Arc::new(BrokenClock::default());
    let builder = SqliteStore::builder(place.path()).clock(Arc::<BrokenClock>::clone(&clock));
    let store = builder.open().await.unwrap();
    won(claim(&store, "before").await);
    let lock = place.lock();
    let mut calls: Vec<_> = (0..20).map(|call| Box::pin(claim(&store, call))).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_none());
    }
    clock.0.store(true, Ordering::SeqCst);
    drop(lock);
    for call in calls {
        assert_error(&call.await.unwrap_err(), StoreErrorKind::Unknown);
    }
    let late = claim(&store, "late").await.unwrap_err();
    assert_error(&late, UNUSABLE);
    drop(store);
    clock.0.store(false, Ordering::SeqCst);
    let again = SqliteStore::builder(place.path()).clock(clock).open().await.unwrap();
    assert!(version(&again, "before").await.is_some());
    for call in 0..20 {
        assert_eq!(version(&again, call).await, None);
    }
}

#[tokio::test]
async fn what_changes_nothing_costs_no_commit() {
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "a").await);
    let before = store.stats();
    for _ in 0..10 {
        assert!(matches!(claim(&store, "a").await, Ok(Swap::Lost(_))));
    }
    assert_eq!(store.sweep(10).await.unwrap(), 0);
    let after = store.stats();
    assert_eq!(after.commits, before.commits);
    assert!(after.calls > before.calls);
}

#[tokio::test]
async fn a_file_that_stays_locked_fails_calls_in_time_and_applies_none() {
    let place = Place::new();
    let builder = SqliteStore::builder(place.path()).busy_timeout(Duration::from_millis(50));
    let store = builder.open().await.unwrap();
    let lock = place.lock();
    let error = claim(&store, "a").await.unwrap_err();
    assert_error(&error, StoreErrorKind::NotApplied);
    assert!(error.message().contains("locked"), "{error}");
    // Who only reads does not wait for who writes.
    assert_eq!(version(&store, "a").await, None);
    drop(lock);
    assert_eq!(version(&store, "a").await, None);
    won(claim(&store, "a").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_read_sees_every_swap_that_was_answered_before_it_began() {
    let place = Place::new();
    let store = Arc::new(place.open().await);
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for _ in 0..100 {
                    let stamp = won(store.swap(&key(task), Expect::Any, put("x")).await);
                    assert_eq!(version(&store, task).await, Some(stamp.version));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// The log is emptied even though somebody reads at every moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_stays_bounded_while_others_read() {
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "read").await);
    let reading: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                loop {
                    version(&store, "read").await;
                }
            })
        })
        .collect();
    let log = place.directory.path().join("store.db-wal");
    let mut largest = 0;
    for turn in 0..150 {
        let calls: Vec<_> = (0..16)
            .map(|call| {
                let store = store.clone();
                tokio::spawn(async move {
                    let next = put(vec![0; 20_000]);
                    store.swap(&key(format!("{turn}-{call}")), Expect::Any, next).await
                })
            })
            .collect();
        for call in calls {
            won(call.await.unwrap());
        }
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    reading.iter().for_each(tokio::task::JoinHandle::abort);
    // 48 MiB were written; the log is copied into the file from 16 MiB on.
    assert!(largest < 32 << 20, "the log grew to {largest} bytes");
}
