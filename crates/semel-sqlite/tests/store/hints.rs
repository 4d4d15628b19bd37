//! Wake-ups, from other processes too, and what they cost when nobody waits.

use std::fs;
use std::path::Path;
use std::time::Duration;

use semel_core::{Expect, Store, Touch};

use crate::child::{Other, say};
use crate::support::{
    PATIENCE, Place, key, open, poll_once, put, real_wait, until, version, within, won,
};

#[tokio::test]
async fn a_change_by_another_process_wakes_who_waits() {
    let place = Place::new();
    let store = place.open().await;
    let mut hint = store.changed(&key("watched"));
    assert_eq!(version(&store, "watched").await, None);
    assert_eq!(Other::start("change", &place.path()).finish(), ["changed"]);
    loop {
        // It looks every 25 ms; the rest is for a machine that has other things to do.
        within(Duration::from_secs(5), "the hint", hint).await;
        hint = store.changed(&key("watched"));
        if version(&store, "watched").await.is_some() {
            break;
        }
    }
}

/// One's own commits are not taken for those of others: who waits for one key sleeps through
/// changes of another.
#[tokio::test]
async fn changes_of_other_keys_in_this_process_wake_nobody() {
    let place = Place::new();
    let store = place.open().await;
    won(store.swap(&key("busy"), Expect::Any, put("x")).await);
    let mut hint = Box::pin(store.changed(&key("watched")));
    // The watch may tell once of what happened before anybody waited.
    real_wait(Duration::from_millis(60)).await;
    if poll_once(&mut hint).await.is_some() {
        hint = Box::pin(store.changed(&key("watched")));
    }
    for _ in 0..50 {
        won(store.swap(&key("busy"), Expect::Any, put("x")).await);
    }
    real_wait(Duration::from_millis(60)).await;
    assert!(poll_once(&mut hint).await.is_none(), "it was woken for nothing");
}

/// Moving the file is no commit, so the watch itself sees nothing.
#[cfg(unix)]
#[tokio::test]
async fn who_waits_is_woken_when_the_store_is_ended() {
    let place = Place::new();
    let store = place.open().await;
    let hint = store.changed(&key("watched"));
    fs::rename(place.path(), place.directory.path().join("moved.db")).unwrap();
    store.swap(&key("other"), Expect::Any, put("x")).await.unwrap_err();
    within(PATIENCE, "the hint", hint).await;
}

#[tokio::test]
async fn who_waits_is_woken_when_the_store_is_closed() {
    let place = Place::new();
    let store = place.open().await;
    let hint = store.changed(&key("watched"));
    drop(store);
    within(PATIENCE, "the hint", hint).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_is_done_while_nobody_waits() {
    let place = Place::new();
    assert_eq!(Other::start("idle", &place.path()).finish(), ["asleep, awake, asleep"]);
}

/// In a process of its own, where the writer is the only one of its name.
pub(crate) async fn the_writer_sleeps_unless_somebody_waits(file: &Path) {
    let store = open(file).await;
    won(store.swap(&key("a"), Expect::Any, put("x")).await);
    assert_asleep().await;
    let hint = store.changed(&key("b"));
    let before = writer_wake_ups();
    until("the writer to look", async || writer_wake_ups() > before + 5).await;
    drop(hint);
    assert_asleep().await;
    say("asleep, awake, asleep");
}

async fn assert_asleep() {
    // Until the last look of a watch that has ended is over.
    real_wait(Duration::from_millis(100)).await;
    let before = writer_wake_ups();
    real_wait(Duration::from_millis(300)).await;
    let woken = writer_wake_ups() - before;
    assert!(woken < 3, "it was awake {woken} times in 300 ms, for nobody");
}

/// How often the writer's thread has gone to sleep so far.
fn writer_wake_ups() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let writer = tasks
        .map(|task| task.unwrap().path())
        .find(|task| fs::read_to_string(task.join("comm")).unwrap().starts_with("semel-sqlite-wr"))
        .unwrap();
    let status = fs::read_to_string(writer.join("status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn ten_thousand_who_wait_hold_no_connection_and_no_thread() {
    let place = Place::new();
    assert_eq!(Other::start("crowd", &place.path()).finish(), ["nothing held, all woken"]);
}

pub(crate) async fn a_crowd_holds_nothing(file: &Path) {
    let store = open(file).await;
    won(store.swap(&key("a"), Expect::Any, put("x")).await);
    store.read(&key("a"), Touch::No).await.unwrap();
    let count = |directory| fs::read_dir(directory).unwrap().count();
    let before = (count("/proc/self/fd"), count("/proc/self/task"));
    let hints: Vec<_> = (0..10_000).map(|_| tokio::spawn(store.changed(&key("a")))).collect();
    assert_eq!((count("/proc/self/fd"), count("/proc/self/task")), before);
    // Calls go on as before, and the one that changes the key wakes them all.
    won(store.swap(&key("b"), Expect::Any, put("x")).await);
    won(store.swap(&key("a"), Expect::Any, put("y")).await);
    until("all to be woken", async || hints.iter().all(tokio::task::JoinHandle::is_finished)).await;
    say("nothing held, all woken");
}
