//! Releasing, extending, and holding at least so long.

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{Extended, LockError, LockLoss, LockSettingError, ReleaseOutcome};

use super::support::{acquired, deleted, faulty, is_held, millis, released, secs, trips, two};

#[tokio::test(start_paused = true)]
async fn a_second_release_says_so_and_asks_nobody() {
    let (store, locks) = faulty();
    let guard = acquired(&locks.lock("r")).await;
    released(&guard).await;
    let before = trips(&store);
    let again = guard.release().await.unwrap();
    assert_eq!(again, ReleaseOutcome::AlreadyReleased);
    assert!(!again.released());
    assert_eq!(trips(&store), before);
}

/// SH-4, ET-4, RR-3, RS-3, RS-4, F-155.
#[tokio::test(start_paused = true)]
async fn sh4_et4_rr3_rs3_a_release_after_the_lease_is_told_apart_and_leaves_the_next_holder_alone()
{
    let (_, ours, theirs) = two();
    let late = acquired(&ours.lock("r").ttl(secs(2))).await;
    sleep(secs(3)).await;
    let next = acquired(&theirs.lock("r")).await;
    assert_eq!(late.release().await.unwrap(), ReleaseOutcome::TakenByOther);
    drop(late);
    sleep(secs(1)).await;
    assert!(is_held(&ours.lock("r")).await);
    released(&next).await;
    let late = acquired(&ours.lock("r").ttl(secs(2))).await;
    sleep(secs(3)).await;
    assert_eq!(late.release().await.unwrap(), ReleaseOutcome::Expired);
    let gone = acquired(&ours.lock("r").ttl(secs(2))).await;
    sleep(secs(60)).await;
    assert_eq!(gone.release().await.unwrap(), ReleaseOutcome::Expired);
}

/// RS-3: a release whose reply was lost can be tried again, and says the truth.
#[tokio::test(start_paused = true)]
async fn rs3_a_release_whose_reply_was_lost_says_the_truth_when_it_is_tried_again() {
    for applied in [true, false] {
        let (store, locks) = faulty();
        let guard = acquired(&locks.lock("r")).await;
        let unknown = StoreErrorKind::Unknown;
        store.next(
            StoreOp::Swap,
            if applied {
                FaultAction::FailAfter(unknown)
            } else {
                FaultAction::FailBefore(unknown)
            },
        );
        store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
        let error = guard.release().await.unwrap_err();
        assert!(matches!(error, LockError::Indeterminate(_)), "{error:?}");
        assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Released, "{applied}");
        assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::AlreadyReleased);
        assert!(!is_held(&locks.lock("r")).await);
    }
}

/// DL-6, DL-7: a store that fails leaves the guard as it was, and the lock is given back when it
/// is dropped.
#[tokio::test(start_paused = true)]
async fn dl6_dl7_a_release_that_failed_goes_on_in_the_background() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    for _ in 0..3 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    assert!(matches!(guard.release().await.unwrap_err(), LockError::Unavailable(_)));
    drop(guard);
    sleep(secs(10)).await;
    assert!(!is_held(&theirs.lock("r")).await);
    assert_eq!(ours.pending(), 0);
}

/// RR-2, RR-7: dropping is releasing.
#[tokio::test(start_paused = true)]
async fn rr2_rr7_a_guard_that_is_dropped_frees_the_lock_at_once_and_not_after_its_lease() {
    let (_, ours, theirs) = two();
    drop(acquired(&ours.lock("r").ttl(secs(3600))).await);
    sleep(millis(5)).await;
    assert!(!is_held(&theirs.lock("r")).await);
    assert_eq!(ours.held(), 0);
}

/// Dropped outside of any runtime, it is given back in the one that it was acquired in.
#[test]
fn a_guard_can_be_dropped_outside_of_its_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (_, ours, theirs) = runtime.block_on(async { two() });
    let guard = runtime.block_on(async { acquired(&ours.lock("r")).await });
    drop(guard);
    runtime.block_on(async {
        super::support::until("given back", || ours.pending() == 0).await;
        assert!(!is_held(&theirs.lock("r")).await);
    });
}

#[tokio::test(start_paused = true)]
async fn extending_holds_a_lock_longer_and_never_shorter() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(10))).await;
    sleep(secs(8)).await;
    let Extended::Extended { remaining } = guard.extend(secs(30)).await.unwrap() else {
        panic!("lost");
    };
    assert!(remaining > secs(29) && remaining < secs(30), "{remaining:?}");
    let before = trips(&store);
    guard.extend(secs(5)).await.unwrap();
    assert_eq!(trips(&store), before, "it would have been made shorter");
    sleep(millis(29_500)).await;
    assert!(!guard.is_lost());
    assert!(is_held(&theirs.lock("r")).await);
    sleep(millis(500)).await;
    assert_eq!(guard.extend(secs(30)).await.unwrap(), Extended::Lost(LockLoss::Expired));
    assert!(!is_held(&theirs.lock("r")).await);
    assert!(matches!(
        guard.extend(secs(0)).await.unwrap_err(),
        LockError::Setting(LockSettingError::Duration { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn extending_what_was_taken_from_us_says_so() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(10))).await;
    deleted(&store, "r").await;
    assert_eq!(guard.extend(secs(20)).await.unwrap(), Extended::Lost(LockLoss::StoreReset));
    let guard = acquired(&ours.lock("r").ttl(secs(10))).await;
    deleted(&store, "r").await;
    let _next = acquired(&theirs.lock("r")).await;
    assert_eq!(guard.extend(secs(20)).await.unwrap(), Extended::Lost(LockLoss::Taken));
    assert_eq!(guard.lost().await, LockLoss::Taken);
}

#[tokio::test(start_paused = true)]
async fn an_extension_beyond_the_most_time_of_holding_is_refused() {
    let (_, locks) = faulty();
    let guard = acquired(&locks.lock("r").ttl(secs(10)).max_hold(secs(30))).await;
    sleep(secs(5)).await;
    guard.extend(secs(25)).await.unwrap();
    sleep(secs(5)).await;
    let error = guard.extend(secs(25)).await.unwrap_err();
    assert!(matches!(error, LockError::Setting(LockSettingError::BeyondMaxHold { .. })));
}

/// RS-11: they do not race for the entry.
#[tokio::test(start_paused = true)]
async fn rs11_a_renewal_under_way_ends_before_the_release_is_sent() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30)).renewed()).await;
    let gate = semel::core::Gate::closed();
    store.next(StoreOp::Swap, FaultAction::HoldAfter(gate.clone()));
    sleep(secs(11)).await;
    assert_eq!(gate.arrived(), 1);
    let opens = async {
        sleep(secs(1)).await;
        assert_eq!(store.calls(StoreOp::Swap), 2, "the release was sent beside the renewal");
        gate.open();
    };
    let (released, ()) = tokio::join!(guard.release(), opens);
    assert_eq!(released.unwrap(), ReleaseOutcome::Released);
    assert_eq!(store.calls(StoreOp::Swap), 3);
    assert!(!is_held(&theirs.lock("r")).await);
}

/// SH-8, ShedLock's `lockAtLeastFor`: a short job must not run twice because clocks differ.
#[tokio::test(start_paused = true)]
async fn a_lock_that_is_released_before_its_least_time_rests_until_then() {
    let (_, ours, theirs) = two();
    let lock = ours.lock("r").ttl(secs(60)).min_hold(secs(30));
    let guard = acquired(&lock).await;
    sleep(secs(1)).await;
    released(&guard).await;
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::AlreadyReleased);
    sleep(millis(28_999)).await;
    assert!(is_held(&theirs.lock("r")).await);
    assert!(is_held(&lock).await, "not even for the one who released it");
    sleep(millis(1)).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

#[tokio::test(start_paused = true)]
async fn the_least_time_also_holds_when_the_holder_dies() {
    let (_, ours, theirs) = two();
    std::mem::forget(acquired(&ours.lock("r").ttl(secs(5)).min_hold(secs(30))).await);
    sleep(millis(29_999)).await;
    assert!(is_held(&theirs.lock("r")).await);
    sleep(millis(1)).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

/// F-153.
#[tokio::test(start_paused = true)]
async fn the_delay_comes_after_an_unclean_end_only() {
    let (_, ours, theirs) = two();
    let lock = ours.lock("r").ttl(secs(5)).lock_delay(secs(10));
    released(&acquired(&lock).await).await;
    assert!(!is_held(&theirs.lock("r")).await);
    std::mem::forget(acquired(&lock).await);
    sleep(secs(7)).await;
    // A look in between makes it neither longer nor shorter.
    assert!(is_held(&theirs.lock("r")).await);
    sleep(millis(7_999)).await;
    assert!(is_held(&theirs.lock("r")).await);
    sleep(millis(1)).await;
    assert!(!is_held(&theirs.lock("r")).await);
}
