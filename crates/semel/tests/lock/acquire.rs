//! Acquiring without waiting.

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{Code, LockError, LockSettingError, Locks, Permits, TryAcquired};

use super::support::{acquired, faulty, is_held, millis, released, secs, trips, two};

#[tokio::test(start_paused = true)]
async fn a_lock_is_acquired_and_released_in_one_round_trip_each() {
    let (store, locks) = faulty();
    let guard = acquired(&locks.lock("r")).await;
    assert_eq!(trips(&store), (1, 0));
    assert_eq!(guard.resource(), "r");
    released(&guard).await;
    assert_eq!(trips(&store), (2, 0));
    assert!(!is_held(&locks.lock("r")).await);
}

#[tokio::test(start_paused = true)]
async fn held_is_a_value_that_says_by_whom_since_when_and_how_long_in_one_round_trip() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(10))).await;
    sleep(secs(4)).await;
    let before = trips(&store);
    let TryAcquired::Held(by) = theirs.try_acquire("r", secs(10)).await.unwrap() else {
        panic!("two holders");
    };
    assert_eq!(trips(&store), (before.0 + 1, before.1));
    assert_eq!(by.owner(), Some("ours"));
    assert_eq!(by.ttl_left(), secs(6));
    assert_eq!(by.occupant.fence, Some(guard.fence()));
    assert_eq!(by.occupant.waiting, 0);
    let since = by.occupant.since;
    // It is told the same after a renewal.
    guard.extend(secs(20)).await.unwrap();
    let TryAcquired::Held(by) = theirs.try_acquire("r", secs(10)).await.unwrap() else {
        panic!("two holders");
    };
    assert_eq!((by.occupant.since, by.occupant.fence), (since, Some(guard.fence())));
    assert_eq!(by.ttl_left(), secs(20));
}

#[tokio::test(start_paused = true)]
async fn the_result_form_makes_held_a_conflict_with_its_code() {
    let (_, ours, theirs) = two();
    let _guard = ours.acquire("orders:42", secs(10)).await.unwrap();
    let error = theirs.acquire("orders:42", secs(10)).await.unwrap_err();
    assert!(matches!(error, LockError::Held(_)), "{error:?}");
    let problem = error.problem().unwrap();
    assert_eq!(problem.code(), Code::LockHeld);
    assert_eq!(problem.params()[0].name, "resource");
    assert_eq!(error.to_string(), "orders:42 is held by ours, for 10.0 s more at most");
}

/// F-154: no deadlock and no second holder.
#[tokio::test(start_paused = true)]
async fn a_lock_is_not_re_entrant() {
    let (_, locks) = faulty();
    let _guard = acquired(&locks.lock("r")).await;
    assert!(is_held(&locks.lock("r")).await);
}

#[tokio::test(start_paused = true)]
async fn a_ttl_of_zero_and_a_blank_resource_are_refused_before_the_store_hears_of_it() {
    let (store, locks) = faulty();
    for resource in ["", " ", "a b", "\u{7}"] {
        let error = locks.acquire(resource, secs(1)).await.unwrap_err();
        assert!(matches!(error, LockError::Resource(_)), "{resource:?}: {error:?}");
        assert_eq!(error.problem().unwrap().code(), Code::KeyInvalid);
    }
    let error = locks.acquire("r", secs(0)).await.unwrap_err();
    assert!(matches!(error, LockError::Setting(LockSettingError::Duration { setting: "ttl", .. })));
    assert!(error.problem().is_none());
    let lock = locks.lock("r").ttl(secs(10)).renewed().max_hold(secs(9));
    assert!(matches!(
        lock.acquire().await.unwrap_err(),
        LockError::Setting(LockSettingError::MaxHoldBelowTtl { .. })
    ));
    assert!(Permits::new(0).is_err() && Permits::new(513).is_err());
    assert_eq!(trips(&store), (0, 0));
}

/// HZ-6, ET-9: a holder that is gone blocks a lock for its lease, which is short by default.
#[tokio::test(start_paused = true)]
async fn hz6_et9_the_lock_of_a_holder_that_died_is_free_after_its_lease_of_ten_seconds() {
    let (_, ours, theirs) = two();
    std::mem::forget(acquired(&ours.lock("r")).await);
    sleep(millis(9_999)).await;
    assert!(is_held(&theirs.lock("r")).await);
    sleep(millis(1)).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

/// SH-12: at the very moment of the end it is free, and not a moment before.
#[tokio::test(start_paused = true)]
async fn sh12_a_lock_is_free_exactly_when_its_lease_has_ended() {
    for (at, held) in [(9_999, true), (10_000, false), (10_001, false)] {
        let (_, ours, theirs) = two();
        std::mem::forget(acquired(&ours.lock("r")).await);
        sleep(millis(at)).await;
        assert_eq!(is_held(&theirs.lock("r")).await, held, "{at} ms");
    }
}

/// Held and "the store is down" are never one answer.
#[tokio::test(start_paused = true)]
async fn a_store_that_can_not_be_reached_is_never_held_and_never_free() {
    let (store, locks) = faulty();
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    let error = locks.try_acquire("r", secs(1)).await.unwrap_err();
    assert!(matches!(error, LockError::Unavailable(_)), "{error:?}");
    assert_eq!(error.problem().unwrap().code(), Code::StoreUnavailable);
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::Damaged));
    let error = locks.try_acquire("r", secs(1)).await.unwrap_err();
    assert!(matches!(error, LockError::Damaged(_)), "{error:?}");
}

/// DL-12, RD-15, HZ-5: the reply was lost and the lock is ours: the token says so.
#[tokio::test(start_paused = true)]
async fn dl12_rd15_a_lost_reply_is_settled_by_looking_for_ones_own_token() {
    let (store, locks) = faulty();
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    let guard = acquired(&locks.lock("r").ttl(secs(10))).await;
    assert_eq!(trips(&store), (1, 1));
    assert!(guard.remaining() > secs(9));
    released(&guard).await;
    assert!(!is_held(&locks.lock("r")).await);
}

/// HZ-5: nobody holds what nobody was told to hold.
#[tokio::test(start_paused = true)]
async fn hz5_what_may_have_been_acquired_and_can_not_be_looked_up_is_given_back() {
    let (store, ours, theirs) = two();
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    let error = ours.try_acquire("r", secs(3600)).await.unwrap_err();
    assert!(matches!(error, LockError::Indeterminate(_)), "{error:?}");
    sleep(secs(1)).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

/// A lock is never given to somebody who can't know that it is over already.
#[tokio::test(start_paused = true)]
async fn what_was_granted_too_late_is_not_handed_out() {
    let (store, ours, theirs) = two();
    let gate = semel::core::Gate::closed();
    store.next(StoreOp::Swap, FaultAction::HoldAfter(gate.clone()));
    let opens = async {
        sleep(secs(3)).await;
        gate.open();
    };
    let (tried, ()) = tokio::join!(ours.try_acquire("r", secs(2)), opens);
    assert!(matches!(tried, Err(LockError::Unavailable(_))), "{tried:?}");
    sleep(millis(100)).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

/// RS-9: each acquisition is a handle of its own.
#[tokio::test(start_paused = true)]
async fn rs9_each_acquisition_has_a_token_of_its_own() {
    let (_, locks): (_, Locks) = faulty();
    let lock = locks.lock("r");
    let first = acquired(&lock).await;
    released(&first).await;
    let second = acquired(&lock).await;
    assert_ne!(first.token(), second.token());
    assert!(second.fence() > first.fence());
    // What is left of the first can't touch the second.
    assert!(!first.release().await.unwrap().released());
    drop(first);
    sleep(secs(1)).await;
    assert!(is_held(&lock).await);
}
