//! Calls whose callers went away.

use std::time::Duration;

use rusqlite::Connection;
use semel_core::{Expect, Store, Touch};
use semel_sqlite::SqliteStore;

use crate::support::{Place, claim, key, poll_once, put, real_wait, secs, version, won};

#[tokio::test]
async fn a_call_that_was_dropped_before_it_began_is_not_run() {
    let place = Place::new();
    let store = place.open().await;
    let lock = place.lock();
    let mut first = Box::pin(claim(&store, "first"));
    assert!(poll_once(&mut first).await.is_none());
    let mut dropped = Box::pin(claim(&store, "dropped"));
    assert!(poll_once(&mut dropped).await.is_none());
    drop(dropped);
    drop(lock);
    won(first.await);
    won(claim(&store, "after").await);
    assert_eq!(version(&store, "dropped").await, None);
}

/// The writer has taken it already, and waits for another process with it.
#[tokio::test]
async fn a_call_that_was_dropped_while_the_file_was_locked_is_not_run() {
    let place = Place::new();
    let store = place.open().await;
    let lock = place.lock();
    let mut dropped = Box::pin(claim(&store, "dropped"));
    assert!(poll_once(&mut dropped).await.is_none());
    // Far longer than the writer takes to come for it; if it comes later, so much the easier.
    real_wait(Duration::from_millis(100)).await;
    drop(dropped);
    drop(lock);
    won(claim(&store, "after").await);
    assert_eq!(version(&store, "dropped").await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_dropped_at_any_moment_leave_nothing_behind() {
    let place = Place::new();
    let store = place.open().await;
    for turn in 0..400_u32 {
        let name = key(turn % 7);
        let mut swap = Box::pin(store.swap(&name, Expect::Any, put("x")));
        let mut read = Box::pin(store.read(&name, Touch::Lease(secs(9))));
        let mut scan = Box::pin(store.scan("", None, 10));
        // Dropped before the first poll, right after it, or some turns of the scheduler later.
        let mut done = [false; 3];
        for _ in 0..turn % 5 {
            done[0] = done[0] || poll_once(&mut swap).await.is_some();
            done[1] = done[1] || poll_once(&mut read).await.is_some();
            done[2] = done[2] || poll_once(&mut scan).await.is_some();
            tokio::task::yield_now().await;
        }
    }
    won(claim(&store, "after").await);
    assert_nobody_holds_a_lock(&place.connect());
}

/// Another connection gets the write lock at once, and may empty the log.
fn assert_nobody_holds_a_lock(db: &Connection) {
    db.busy_timeout(Duration::ZERO).unwrap();
    db.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
    let busy: i64 = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0, "a reader is left behind");
}

#[tokio::test]
async fn an_opening_that_was_dropped_leaves_nothing_open() {
    let place = Place::new();
    for _ in 0..20 {
        let mut opening = Box::pin(SqliteStore::open(place.path()));
        let _ = poll_once(&mut opening).await;
    }
    let store = place.open().await;
    won(claim(&store, "a").await);
    store.close().await;
}
