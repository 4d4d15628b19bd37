//! Shutting down.

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{LockError, LocksShutdown};

use super::support::{acquired, faulty, is_held, secs, two};

/// SH-11: what is given back is waited for.
#[tokio::test(start_paused = true)]
async fn sh11_shutting_down_waits_for_what_is_given_back() {
    let (store, ours, theirs) = two();
    let guards: Vec<_> = {
        let mut guards = Vec::new();
        for number in 0..100 {
            guards.push(acquired(&ours.lock(&format!("r{number}")).ttl(secs(600))).await);
        }
        guards
    };
    for _ in 0..50 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    drop(guards);
    let shutdown = ours.shutdown(secs(30)).await;
    assert_eq!(shutdown, LocksShutdown { still_held: 0, pending: 0 });
    for number in 0..100 {
        assert!(!is_held(&theirs.lock(&format!("r{number}"))).await);
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_told_and_nothing_is_acquired_any_more() {
    let (_, ours, theirs) = two();
    let guard = acquired(&theirs.lock("r").ttl(secs(600))).await;
    let waits = {
        let ours = ours.clone();
        tokio::spawn(async move { ours.acquire_within("r", secs(1), secs(60)).await })
    };
    sleep(secs(1)).await;
    let kept = acquired(&ours.lock("kept")).await;
    let shutdown = ours.shutdown(secs(5)).await;
    assert_eq!(shutdown, LocksShutdown { still_held: 1, pending: 0 });
    assert!(matches!(waits.await.unwrap(), Err(LockError::Cancelled)));
    assert!(matches!(ours.acquire("x", secs(1)).await, Err(LockError::Cancelled)));
    assert!(theirs.inspect("r").await.unwrap().unwrap().queue.is_empty());
    assert!(is_held(&theirs.lock("kept")).await, "its work may be running");
    drop((guard, kept));
}

#[tokio::test(start_paused = true)]
async fn shutting_down_ends_in_time_when_the_store_does_not_answer() {
    let (store, ours) = faulty();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    for _ in 0..1_000 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    drop(guard);
    let shutdown = ours.shutdown(secs(3)).await;
    assert_eq!(shutdown, LocksShutdown { still_held: 0, pending: 1 });
}
