//! Beginning while the store fails.

use std::sync::atomic::Ordering;

use semel::core::{FaultAction, Gate, Refusal, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{Begun, Call, Code, InDoubtPolicy, Once, StoreDown};

use super::begin::refused;
use super::support::stopwatch::Stopwatch;
use super::support::stores::{Fickle, Late, Wrapped};
use super::support::{
    LEASE, bytes, call, dyn_store, faulty, fresh, gate_for, impatient, millis, policy, recorded,
    replayed, secs, trips, until,
};

fn open() -> std::sync::Arc<semel::Policy> {
    policy(|policy| policy.store_down(StoreDown::Open).in_flight(semel::InFlight::Reject))
}

/// Never "free", never "in flight": a store that fails is told as one, and the work does not run
/// unless the policy says so, and then the answer says so.
#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_told_as_one() {
    let unavailable = Code::StoreUnavailable;
    for (kind, code, down) in [
        (StoreErrorKind::NotApplied, unavailable, true),
        (StoreErrorKind::Unknown, unavailable, true),
        (StoreErrorKind::Refused(Refusal::Credentials), unavailable, true),
        (StoreErrorKind::Refused(Refusal::Unusable), unavailable, true),
        (StoreErrorKind::Refused(Refusal::Full), Code::StoreFull, false),
        (StoreErrorKind::Refused(Refusal::TooLarge), Code::StoreFull, false),
        (StoreErrorKind::Damaged, unavailable, false),
    ] {
        let (store, once) = faulty();
        let fail = || {
            store.next(StoreOp::Swap, FaultAction::FailBefore(kind));
            store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
        };
        fail();
        let problem = refused(once.begin(&call(&impatient(), "k")).await);
        assert_eq!(problem.code(), code, "{kind:?}");
        fail();
        let begun = once.begin(&call(&open(), "k")).await;
        assert_eq!(matches!(begun, Begun::Unprotected(_)), down, "{kind:?}: {begun:?}");
    }
}

/// S7, S8, F-47: a store whose swaps lose to nothing is not one that is down: the work must not
/// run unprotected because others are faster.
#[tokio::test(start_paused = true)]
async fn a_key_that_changes_hands_all_the_time_is_busy() {
    let once = Once::new(dyn_store(Wrapped::new(Fickle)));
    for policy in [impatient(), open()] {
        let begun = once.begin(&call(&policy, "k")).await;
        assert!(matches!(begun, Begun::Busy(_)), "{begun:?}");
    }
}

/// F-64, F-111: a store that gives no answer at all.
#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_one_that_can_not_be_reached() {
    let (store, once) = faulty();
    let gate = Gate::closed();
    for policy in [impatient(), open()] {
        store.next(StoreOp::Swap, FaultAction::HoldBefore(gate.clone()));
        let began = Stopwatch::started();
        let begun = once.begin(&call(&policy, "k")).await;
        assert_eq!(began.elapsed().as_secs(), 5);
        match begun {
            Begun::Refused(problem) => assert_eq!(problem.code(), Code::StoreUnavailable),
            Begun::Unprotected(_) => assert_eq!(policy.store_down(), StoreDown::Open),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(once.held(), 0);
}

/// F-23: what was granted too late is not acted upon.
#[tokio::test(start_paused = true)]
async fn a_claim_that_was_granted_after_its_lease_is_not_ours() {
    let (store, once) = faulty();
    let call = call(&policy(|policy| policy.in_progress_time_to_live(secs(2))), "k");
    store.next(StoreOp::Swap, FaultAction::HoldAfter(gate_for(secs(3))));
    assert_eq!(refused(once.begin(&call).await).code(), Code::StoreUnavailable);
    assert_eq!(once.held(), 0);
    sleep(millis(200)).await;
    fresh(&once, &call).await.release().await;
}

/// One whose reply took a while counts from when it was asked for.
#[tokio::test(start_paused = true)]
async fn the_lease_counts_from_before_it_was_asked_for() {
    let (store, once) = faulty();
    store.next(StoreOp::Swap, FaultAction::HoldAfter(gate_for(secs(4))));
    let claim = fresh(&once, &call(&impatient(), "k")).await;
    assert_eq!(claim.permit().remaining(), LEASE - secs(4));
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_write_lands_late_is_made_once() {
    let store = Wrapped::new(Late::default());
    let once = Once::new(dyn_store(store.clone()));
    let call = call(&impatient(), "k");
    let late = store.around.next();
    let mut claim = fresh(&once, &call).await;
    late.open();
    sleep(millis(1)).await;
    recorded(&mut claim, bytes(b"once")).await;
    assert_eq!(replayed(&once, &call).await, b"once");
}

/// A write that lands after its claim was released blocks the key for no longer than a lease, and
/// nothing renews it.
#[tokio::test(start_paused = true)]
async fn a_claim_whose_write_lands_after_its_release_blocks_the_key_for_a_lease_at_most() {
    let store = Wrapped::new(Late::default());
    let once = Once::new(dyn_store(store.clone()));
    let call = call(&impatient(), "k");
    let late = store.around.next();
    fresh(&once, &call).await.release().await;
    late.open();
    sleep(millis(1)).await;
    assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
    assert_eq!(once.held(), 0);
    sleep(LEASE).await;
    fresh(&once, &call).await.release().await;
}

async fn refused_with_a_late_write(policy: std::sync::Arc<semel::Policy>) -> (Once, Call) {
    let store = Wrapped::new(Late::default());
    let once = Once::new(dyn_store(store.clone()));
    let call = call(&policy, "k");
    let late = store.around.next();
    store.around.blind.store(true, Ordering::SeqCst);
    assert_eq!(refused(once.begin(&call).await).code(), Code::StoreUnavailable);
    store.around.blind.store(false, Ordering::SeqCst);
    sleep(secs(1)).await;
    late.open();
    (once, call)
}

/// A refusal whose claim was made all the same: nobody works under it, and so it is given back.
#[tokio::test(start_paused = true)]
async fn a_claim_that_lands_after_its_caller_was_refused_is_given_back() {
    let reject =
        policy(|policy| policy.in_doubt(InDoubtPolicy::Reject).in_flight(semel::InFlight::Reject));
    for policy in [impatient(), reject] {
        let (once, call) = refused_with_a_late_write(policy).await;
        sleep(millis(1)).await;
        assert!(matches!(once.begin(&call).await, Begun::Busy(_)), "it has landed");
        sleep(secs(10)).await;
        fresh(&once, &call).await.release().await;
        assert!(once.tasks().is_empty(), "nothing goes on");
    }
}

/// Where nobody would take over, giving back goes on after the lease.
#[tokio::test(start_paused = true)]
async fn a_claim_that_nobody_would_take_over_is_given_back_after_its_lease_too() {
    let reject = policy(|policy| policy.in_doubt(InDoubtPolicy::Reject));
    let (store, once) = faulty();
    let call = call(&reject, "k");
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    for _ in 0..40 {
        store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    assert_eq!(refused(once.begin(&call).await).code(), Code::StoreUnavailable);
    until("the store is back", || store.left(StoreOp::Read) == 0 && once.tasks().is_empty()).await;
    assert!(matches!(once.begin(&call).await, Begun::Fresh(_)));
}

/// After an outage thousands may have to be given back: a few at a time.
#[tokio::test(start_paused = true)]
async fn few_are_given_back_at_once() {
    let (store, once) = faulty();
    let gate = Gate::closed();
    for _ in 0..500 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::Unknown));
        store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    for n in 0..500 {
        drop(once.begin(&call(&impatient(), &format!("k{n}"))).await);
    }
    for _ in 0..5_000 {
        store.next(StoreOp::Read, FaultAction::HoldBefore(gate.clone()));
    }
    sleep(secs(4)).await;
    assert_eq!(gate.arrived(), 32);
}

/// A store whose writes are never answered is not asked for ever, and nothing is concluded.
#[tokio::test(start_paused = true)]
async fn writes_that_are_never_answered_end_as_unknown_and_are_given_back() {
    let (store, once) = faulty();
    for _ in 0..16 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::Unknown));
    }
    let begun = once.begin(&call(&open(), "k")).await;
    assert!(!matches!(begun, Begun::Fresh(_) | Begun::Replay(_)), "{begun:?}");
    assert_eq!(trips(&store), (16, 16));
    assert_eq!(once.tasks().len(), 1, "it may have been written: it is given back");
}
