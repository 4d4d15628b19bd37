//! Waiting while the store fails.

use semel::LockError;
use semel::core::{FaultAction, Gate, StoreErrorKind, StoreOp};
use semel::timer::sleep;

use super::support::stopwatch::Stopwatch;
use super::support::{acquired, millis, released, secs, two, waited};

/// ET-6, HZ-9: the caller's time limit holds when nothing answers.
#[tokio::test(start_paused = true)]
async fn et6_hz9_a_store_that_is_silent_is_told_within_the_callers_time_and_never_held() {
    let (store, ours, _) = two();
    store.next(StoreOp::Swap, FaultAction::HoldBefore(Gate::closed()));
    let began = Stopwatch::started();
    let error = ours.acquire_within("r", secs(10), secs(2)).await.unwrap_err();
    assert!(began.elapsed() <= secs(3), "{:?}", began.elapsed());
    assert!(matches!(error, LockError::Indeterminate(_)), "{error:?}");
    store.next(StoreOp::Swap, FaultAction::HoldBefore(Gate::closed()));
    let began = Stopwatch::started();
    let error = ours.try_acquire("r", secs(10)).await.unwrap_err();
    assert!(began.elapsed() <= secs(5), "{:?}", began.elapsed());
    assert!(matches!(error, LockError::Indeterminate(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_a_while_is_waited_for() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(600)).await });
    sleep(secs(5)).await;
    for _ in 0..5 {
        store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    sleep(secs(10)).await;
    assert!(!waits.is_finished());
    released(&guard).await;
    drop(waits.await.unwrap());
}

/// Who can't see a lock does not know that it is held.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_still_down_when_the_time_is_up_is_unavailable_and_not_timed_out() {
    let (store, ours, theirs) = two();
    let _guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let waits = tokio::spawn(async move { theirs.acquire_within("r", secs(5), secs(10)).await });
    sleep(secs(5)).await;
    for _ in 0..100 {
        store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    let began = Stopwatch::started();
    let error = waits.await.unwrap().unwrap_err();
    assert!(matches!(error, LockError::Unavailable(_)), "{error:?}");
    assert!(began.elapsed() <= millis(5_001));
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_can_not_be_read_is_told_at_once_and_never_taken_for_free() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let waits = tokio::spawn(async move { theirs.acquire_within("r", secs(5), secs(60)).await });
    sleep(secs(5)).await;
    for _ in 0..100 {
        store.next(StoreOp::Read, FaultAction::Corrupt { at: 40 });
    }
    let began = Stopwatch::started();
    let error = waits.await.unwrap().unwrap_err();
    assert!(matches!(error, LockError::Damaged(_)), "{error:?}");
    assert!(began.elapsed() <= secs(1));
    assert!(!guard.is_lost());
}
