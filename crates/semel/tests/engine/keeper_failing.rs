//! Renewals while the store fails or hangs.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use semel::core::{FaultAction, Gate, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{Claim, LossReason, Once};

use super::support::logs::Logs;
use super::support::metrics::Counted;
use super::support::stopwatch::Stopwatch;
use super::support::{
    Faulty, LEASE, bytes, call, faulty, fresh, impatient, millis, planned, recorded, replayed, secs,
};

const FAILS: [FaultAction; 3] = [
    FaultAction::FailBefore(StoreErrorKind::NotApplied),
    FaultAction::FailBefore(StoreErrorKind::Unknown),
    FaultAction::FailBefore(StoreErrorKind::Damaged),
];

/// A claim whose next so many renewals fail, reads included.
async fn failing(fail: &FaultAction, times: u32) -> (Faulty, Once, Claim) {
    let (store, once) = faulty();
    let claim = fresh(&once, &call(&impatient(), "k")).await;
    for _ in 0..times {
        store.next(StoreOp::Swap, fail.clone());
        if matches!(fail, FaultAction::FailBefore(StoreErrorKind::Unknown)) {
            store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
        }
    }
    (store, once, claim)
}

/// Tried at 20 s and then every 5 s: seven may fail, and the eighth, at 55 s, is in time.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_back_before_the_lease_ends_costs_nothing() {
    for fail in &FAILS {
        for times in 1..=7 {
            let (store, once, mut claim) = failing(fail, times).await;
            sleep(secs(200)).await;
            assert_eq!(store.left(StoreOp::Swap), 0);
            assert!(claim.permit().remaining() > secs(30), "{times} times {fail:?}");
            recorded(&mut claim, bytes(b"once")).await;
            assert_eq!(replayed(&once, &call(&impatient(), "k")).await, b"once");
        }
    }
}

/// The loss comes at the local deadline, with its reason, and with no help of the store.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_gone_for_longer_ends_the_lease_to_the_moment() {
    for fail in &FAILS {
        let counted = Counted::captured();
        let (_, once, claim) = failing(fail, 8).await;
        let (permit, began) = (claim.permit(), Stopwatch::started());
        assert_eq!(permit.lost().await, LossReason::Expired);
        assert_ends_at(LEASE, began.elapsed());
        assert!(permit.remaining().is_zero());
        sleep(millis(10)).await;
        assert_eq!(once.held(), 0, "nothing is tried again");
        assert_eq!(counted.of("semel_claims_lost_total"), 1);
        assert_eq!(counted.of("semel_renewals_failed_total"), 8);
    }
}

/// Not before the moment, and no later than a timer of milliseconds can tell.
fn assert_ends_at(expected: Duration, elapsed: Duration) {
    assert!((expected..expected + millis(3)).contains(&elapsed), "{elapsed:?}");
}

/// F-142: a store that never answers, in its writes or in the reads that settle them.
#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_ends_the_lease_to_the_moment() {
    for hangs_in_read in [false, true] {
        let (store, once) = faulty();
        let claim = fresh(&once, &call(&impatient(), "k")).await;
        for _ in 0..100 {
            let hold = FaultAction::HoldBefore(Gate::closed());
            if hangs_in_read {
                store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::Unknown));
                store.next(StoreOp::Read, hold);
            } else {
                store.next(StoreOp::Swap, hold);
            }
        }
        let (permit, began) = (claim.permit(), Stopwatch::started());
        assert_eq!(permit.lost().await, LossReason::Expired);
        assert_ends_at(LEASE, began.elapsed());
        sleep(millis(10)).await;
        assert_eq!(once.held(), 0, "and the keeper knows as well");
        let tried = store.calls(StoreOp::Swap) - 1;
        assert!(tried >= 2, "a call that hangs does not use up the time for another: {tried}");
    }
}

/// A renewal that hung was carried out; its reply never came.
#[tokio::test(start_paused = true)]
async fn renewals_whose_replies_are_lost_are_found_to_be_ours() {
    let (store, once) = faulty();
    let mut claim = fresh(&once, &call(&impatient(), "k")).await;
    for _ in 0..20 {
        store.next(StoreOp::Swap, FaultAction::HoldAfter(Gate::closed()));
        store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
        store.next(StoreOp::Swap, FaultAction::Pass);
    }
    sleep(secs(900)).await;
    assert_eq!(store.left(StoreOp::Swap), 0);
    assert!(claim.permit().remaining() > secs(20));
    recorded(&mut claim, bytes(b"once")).await;
    assert_eq!(replayed(&once, &call(&impatient(), "k")).await, b"once");
}

/// More than would fit into any window of calls hang for ever: the others are renewed in time.
#[tokio::test(start_paused = true)]
async fn renewals_that_hang_hold_up_no_other() {
    let dead: Arc<Mutex<bool>> = Arc::default();
    let is_dead = Arc::clone(&dead);
    let (_, once) = planned(move |fault| {
        let hangs = *is_dead.lock() && fault.key.is_some_and(|key| key.as_str().contains("dead"));
        if hangs { FaultAction::HoldBefore(Gate::closed()) } else { FaultAction::Pass }
    });
    let policy = impatient();
    let claims = async |name: &str| {
        let mut claims = Vec::new();
        for n in 0..500 {
            claims.push(fresh(&once, &call(&policy, &format!("{name}-{n}"))).await);
        }
        claims
    };
    let (hung, alive) = (claims("dead").await, claims("alive").await);
    *dead.lock() = true;
    let began = Stopwatch::started();
    for claim in &hung {
        assert_eq!(claim.permit().lost().await, LossReason::Expired);
    }
    assert_ends_at(LEASE, began.elapsed());
    for _ in 0..60 {
        sleep(secs(10)).await;
        for claim in &alive {
            assert!(claim.permit().remaining() > secs(35), "{:?}", claim.permit().remaining());
        }
    }
}

/// A store that is down fails for every claim; the log says so once each time.
#[tokio::test(start_paused = true)]
async fn failed_renewals_of_many_claims_are_told_in_one_line() {
    let logs = Logs::captured();
    let (store, once) = faulty();
    let mut claims = Vec::new();
    for n in 0..100 {
        claims.push(fresh(&once, &call(&impatient(), &format!("k{n}"))).await);
        store.next(StoreOp::Read, FaultAction::Pass);
    }
    for _ in 0..100 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    sleep(secs(30)).await;
    assert_eq!(logs.text().matches("leases could not be renewed").count(), 1);
    assert!(logs.text().contains("leases=100"), "{}", logs.text());
}

/// F-23: a process that stood still (stopped, swapped out) while the clock went on. It wakes up
/// after its lease and knows at once that it has lost it, before the store could say so.
#[tokio::test(start_paused = true)]
async fn a_process_that_stood_still_for_its_lease_has_lost_it_when_it_wakes() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    sleep(secs(5)).await;
    let permit = claim.permit();
    // No timer runs in between: that is what standing still is.
    stand_still(secs(90)).await;
    assert!(permit.remaining().is_zero());
    assert_eq!(permit.lost().await, LossReason::Expired);
    sleep(secs(1)).await;
    assert_eq!((once.held(), store.calls(StoreOp::Swap)), (0, 1), "and it is not renewed any more");
    // Nobody came meanwhile: its answer counts.
    recorded(&mut claim, bytes(b"late")).await;
    assert_eq!(replayed(&once, &call).await, b"late");
}

/// For less than the lease: it is renewed as soon as it wakes.
#[tokio::test(start_paused = true)]
async fn a_process_that_stood_still_for_less_than_its_lease_goes_on() {
    let (_, once) = faulty();
    let claim = fresh(&once, &call(&impatient(), "k")).await;
    sleep(secs(5)).await;
    stand_still(secs(50)).await;
    assert_eq!(claim.permit().remaining(), secs(5));
    sleep(millis(1)).await;
    assert!(claim.permit().remaining() > secs(59));
    sleep(secs(600)).await;
    assert!(claim.permit().remaining() > secs(30));
}

async fn stand_still(time: Duration) {
    tokio::time::advance(time).await;
}
