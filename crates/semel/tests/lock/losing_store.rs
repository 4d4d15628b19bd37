//! Losing a lock while the store fails.

use std::time::Duration;

use semel::core::{FaultAction, Gate, Refusal, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{LockError, LockGuard, LockLoss, Locks};

use super::support::stopwatch::Stopwatch;
use super::support::{Faulty, acquired, is_held, secs, two};

const TTL: Duration = secs(60);

async fn failing(kind: StoreErrorKind, times: u32) -> (Faulty, LockGuard, Locks) {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(TTL).renewed()).await;
    for _ in 0..times {
        store.next(StoreOp::Swap, FaultAction::FailBefore(kind));
        if kind == StoreErrorKind::Unknown {
            store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
        }
    }
    (store, guard, theirs)
}

const KINDS: [StoreErrorKind; 4] = [
    StoreErrorKind::NotApplied,
    StoreErrorKind::Unknown,
    StoreErrorKind::Damaged,
    StoreErrorKind::Refused(Refusal::Full),
];

/// RD-1, SH-9: failures shorter than the lease cost nothing.
#[tokio::test(start_paused = true)]
async fn rd1_sh9_renewals_that_fail_are_tried_again_until_the_lease_ends() {
    for kind in KINDS {
        for times in 1..=6 {
            let (store, guard, theirs) = failing(kind, times).await;
            sleep(secs(200)).await;
            assert_eq!(store.left(StoreOp::Swap), 0);
            assert!(!guard.is_lost(), "{times} times {kind:?}");
            assert!(is_held(&theirs.lock("r")).await);
        }
    }
}

/// DL-9: looks that hang, as on a connection that something between has forgotten, keep no renewal
/// waiting.
#[tokio::test(start_paused = true)]
async fn dl9_a_look_that_gets_no_answer_keeps_no_renewal_waiting() {
    for ttl in [1, 3, 6, 10] {
        let (store, ours, theirs) = two();
        let guard = acquired(&ours.lock("r").ttl(secs(ttl)).renewed()).await;
        for _ in 0..50 {
            store.next(StoreOp::Changed, FaultAction::FalseHint);
            store.next(StoreOp::Read, FaultAction::HoldBefore(Gate::closed()));
        }
        sleep(secs(5 * ttl)).await;
        assert_eq!(guard.loss(), None, "{ttl}");
        assert!(store.left(StoreOp::Read) < 50, "the void rule: nobody looked");
        drop(theirs);
    }
}

/// An extension of a lock that is renewed does not wait for so long that the lock is lost meanwhile.
#[tokio::test(start_paused = true)]
async fn an_extension_that_gets_no_answer_costs_no_lock_that_is_renewed() {
    let (store, ours, _) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(4)).renewed()).await;
    store.next(StoreOp::Swap, FaultAction::HoldBefore(Gate::closed()));
    let extended = guard.extend(secs(60)).await;
    assert!(matches!(extended, Err(LockError::Indeterminate(_))), "{extended:?}");
    sleep(secs(20)).await;
    assert_eq!(guard.loss(), None);
}

/// RD-1, RD-4, SH-9: longer ones end in a loss with its reason, never in silence.
#[tokio::test(start_paused = true)]
async fn rd1_rd4_sh9_a_store_that_fails_for_longer_ends_in_a_loss_with_its_reason() {
    for kind in KINDS {
        let (_, guard, theirs) = failing(kind, 100).await;
        let began = Stopwatch::started();
        let loss = guard.lost().await;
        assert!(began.elapsed() < TTL && began.elapsed() > TTL - secs(2), "{:?}", began.elapsed());
        let refused = matches!(kind, StoreErrorKind::Refused(_));
        let expected = if refused { LockLoss::RenewalRefused } else { LockLoss::Expired };
        assert_eq!(loss, expected, "{kind:?}");
        drop(theirs);
    }
}

/// ETR-2, RR-4: the store says nothing at all.
#[tokio::test(start_paused = true)]
async fn etr2_rr4_a_store_that_is_silent_ends_in_a_loss_before_the_lease_does() {
    let (store, ours, _) = two();
    let guard = acquired(&ours.lock("r").ttl(TTL).renewed()).await;
    let gate = Gate::closed();
    for _ in 0..100 {
        store.next(StoreOp::Swap, FaultAction::HoldBefore(gate.clone()));
    }
    let began = Stopwatch::started();
    assert_eq!(guard.lost().await, LockLoss::Expired);
    assert!(began.elapsed() < TTL && began.elapsed() > TTL - secs(2), "{:?}", began.elapsed());
}

/// A renewal that was sent and of which the reply is late does not make the lease longer than it
/// is: it counts from when it was sent.
#[tokio::test(start_paused = true)]
async fn a_late_reply_counts_from_when_the_renewal_was_sent() {
    let (store, ours, _) = two();
    let began = Stopwatch::started();
    let guard = acquired(&ours.lock("r").ttl(TTL).renewed()).await;
    let gate = Gate::closed();
    store.next(StoreOp::Swap, FaultAction::HoldAfter(gate.clone()));
    for _ in 0..100 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    // The renewal at a third, 20 s, is answered 10 s later.
    sleep(secs(30)).await;
    gate.open();
    assert_eq!(guard.lost().await, LockLoss::Expired);
    assert!(began.elapsed() < secs(80) && began.elapsed() > secs(78), "{:?}", began.elapsed());
}
