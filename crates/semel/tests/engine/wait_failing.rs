//! Waiting while the store fails or hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use semel::core::{FaultAction, Gate, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{Begun, Code};

use super::begin::refused;
use super::support::stopwatch::Stopwatch;
use super::support::{
    LEASE, bytes, call, faulty, fresh, gate_for, patient, planned, recorded, replayed, secs, until,
};

/// A read that never ends holds up nobody beyond its budget, and no watch for good.
#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_in_reads_costs_no_more_than_the_budget() {
    let (store, once) = faulty();
    let call = call(&patient(secs(3)), "k");
    let mut claim = fresh(&once, &call).await;
    for _ in 0..3 {
        store.next(StoreOp::Read, FaultAction::HoldBefore(Gate::closed()));
        let began = Stopwatch::started();
        assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
        assert_eq!(began.elapsed().as_secs(), 3);
        until("nobody watches", || once.watched() == 0).await;
    }
    recorded(&mut claim, bytes(b"answer")).await;
    assert_eq!(replayed(&once, &call).await, b"answer");
}

/// One who waits for long enough is there when the store answers again.
#[tokio::test(start_paused = true)]
async fn a_read_that_hangs_is_given_up_and_tried_again() {
    let (store, once) = faulty();
    let call = call(&patient(secs(50)), "k");
    let mut claim = fresh(&once, &call).await;
    store.next(StoreOp::Read, FaultAction::HoldBefore(Gate::closed()));
    let (waits, waiting) = (once.clone(), call.clone());
    let waiter = tokio::spawn(async move { waits.begin(&waiting).await });
    sleep(secs(2)).await;
    recorded(&mut claim, bytes(b"answer")).await;
    let began = Stopwatch::started();
    assert!(matches!(waiter.await.unwrap(), Begun::Replay(_)));
    assert!(began.elapsed() <= secs(5), "{:?}", began.elapsed());
}

/// F-63 and its like: a store that is away while one waits says nothing about the call.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_for_a_while_ends_no_waiting() {
    let down: Arc<AtomicBool> = Arc::default();
    let is_down = Arc::clone(&down);
    let (_, once) = planned(move |_| {
        let kind = StoreErrorKind::NotApplied;
        if is_down.load(Ordering::SeqCst) {
            FaultAction::FailBefore(kind)
        } else {
            FaultAction::Pass
        }
    });
    let call = call(&patient(secs(50)), "k");
    let mut claim = fresh(&once, &call).await;
    let (waits, waiting) = (once.clone(), call.clone());
    let waiter = tokio::spawn(async move { waits.begin(&waiting).await });
    sleep(secs(2)).await;
    down.store(true, Ordering::SeqCst);
    sleep(secs(30)).await;
    assert!(!waiter.is_finished());
    down.store(false, Ordering::SeqCst);
    recorded(&mut claim, bytes(b"answer")).await;
    assert!(matches!(waiter.await.unwrap(), Begun::Replay(_)));
}

/// An unreadable record does not become readable by waiting.
#[tokio::test(start_paused = true)]
async fn a_damaged_record_ends_the_waiting() {
    let (store, once) = faulty();
    let call = call(&patient(secs(50)), "k");
    let _claim = fresh(&once, &call).await;
    store.next(StoreOp::Read, FaultAction::Pass);
    store.next(StoreOp::Read, FaultAction::Corrupt { at: 3 });
    let began = Stopwatch::started();
    assert_eq!(refused(once.begin(&call).await).code(), Code::StoreUnavailable);
    assert!(began.elapsed() <= secs(2), "{:?}", began.elapsed());
}

/// F-144: who takes over after waiting does so by a write of its own, not because it was told.
#[tokio::test(start_paused = true)]
async fn who_takes_over_after_a_wait_holds_the_key() {
    let (store, once) = faulty();
    let call = call(&patient(secs(500)), "k");
    drop(fresh(&once, &call).await);
    let waiters = (0..2).map(|_| {
        let (once, call) = (once.clone(), call.clone());
        tokio::spawn(async move { once.begin(&call).await })
    });
    let waiters: Vec<_> = waiters.collect();
    sleep(secs(30)).await;
    // The take-over of the first of them is on its way for a while.
    store.next(StoreOp::Swap, FaultAction::HoldBefore(gate_for(LEASE)));
    store.next(StoreOp::Swap, FaultAction::Pass);
    sleep(secs(40)).await;
    assert_eq!(once.held(), 1, "the second one");
    sleep(secs(100)).await;
    let ended = waiters.iter().filter(|waiter| waiter.is_finished()).count();
    assert!(once.held() == 1 && ended >= 1);
    waiters.iter().for_each(tokio::task::JoinHandle::abort);
}
