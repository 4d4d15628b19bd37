//! Renewal, and losing a lock by one's own clock.

use semel::timer::sleep;
use semel::{LockLoss, ReleaseOutcome};

use super::support::stopwatch::Stopwatch;
use super::support::{
    acquired, deleted, faulty, is_held, millis, polled, released, secs, trips, two, until,
};

/// RR-6: a fresh handle is not lost. DL-2: to look does not block and does no I/O.
#[tokio::test(start_paused = true)]
async fn rr6_dl2_a_fresh_lock_is_not_lost_and_to_look_asks_nobody() {
    let (store, locks) = faulty();
    let guard = acquired(&locks.lock("r").ttl(secs(10))).await;
    let before = trips(&store);
    assert_eq!(polled(50, guard.lost()).await, None);
    assert!(!guard.is_lost());
    assert!(guard.remaining() <= secs(10));
    assert_eq!(trips(&store), before);
}

/// RS-5, rule 5: from before the request was sent, a margin earlier than the store.
#[tokio::test(start_paused = true)]
async fn rs5_a_lock_is_lost_by_our_own_clock_before_the_store_could_grant_it_again() {
    let (_, ours, theirs) = two();
    let began = Stopwatch::started();
    let guard = acquired(&ours.lock("r").ttl(secs(10))).await;
    let view = guard.view();
    assert_eq!(guard.lost().await, LockLoss::Expired);
    assert!(began.elapsed() < secs(10) && began.elapsed() > millis(9_800), "{:?}", began.elapsed());
    assert!(is_held(&theirs.lock("r")).await, "the store has it for us still");
    assert_eq!(view.loss(), Some(LockLoss::Expired));
    assert_eq!(view.lost().await, LockLoss::Expired);
    assert!(guard.remaining().is_zero());
}

#[tokio::test(start_paused = true)]
async fn a_renewed_lock_is_held_as_long_as_its_guard_lives_at_one_round_trip_each_third() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30)).renewed()).await;
    let before = trips(&store);
    sleep(secs(3_600)).await;
    assert!(!guard.is_lost());
    let (swaps, reads) = (trips(&store).0 - before.0, trips(&store).1 - before.1);
    assert!((360..=370).contains(&swaps), "{swaps}");
    assert!(reads <= 1, "one look when the store begins to tell of changes");
    assert!(is_held(&theirs.lock("r")).await);
    released(&guard).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

/// RD-13: after a release nothing is renewed.
#[tokio::test(start_paused = true)]
async fn rd13_after_a_release_or_a_drop_nothing_is_renewed() {
    let (store, locks) = faulty();
    let guards =
        [acquired(&locks.lock("a").renewed()).await, acquired(&locks.lock("b").renewed()).await];
    assert_eq!(locks.renewed(), 2);
    released(&guards[0]).await;
    drop(guards);
    until("given back", || locks.pending() == 0).await;
    assert_eq!((locks.renewed(), locks.held()), (0, 0));
    let before = trips(&store);
    sleep(secs(100)).await;
    assert_eq!(trips(&store), before);
}

/// Renewals of one process travel together: those due at about the same time are sent at once.
#[tokio::test(start_paused = true)]
async fn renewals_of_one_process_travel_together() {
    let (store, locks) = faulty();
    let mut guards = Vec::new();
    for number in 0..100 {
        guards.push(acquired(&locks.lock(&format!("r{number}")).ttl(secs(30)).renewed()).await);
    }
    let before = trips(&store).0;
    sleep(millis(9_500)).await;
    assert_eq!(trips(&store).0, before);
    sleep(millis(800)).await;
    assert_eq!(trips(&store).0, before + 100);
}

/// HZ-7, SH-8: the cap under renewal.
#[tokio::test(start_paused = true)]
async fn hz7_sh8_a_lock_is_renewed_for_its_most_time_and_says_that_this_is_why() {
    let (_, ours, theirs) = two();
    let began = Stopwatch::started();
    let guard = acquired(&ours.lock("r").ttl(secs(10)).renewed().max_hold(secs(60))).await;
    assert_eq!(guard.lost().await, LockLoss::MaxHold);
    assert!(began.elapsed() <= secs(60) && began.elapsed() > secs(56), "{:?}", began.elapsed());
    sleep(secs(1)).await;
    assert!(!is_held(&theirs.lock("r")).await);
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Expired);
}

/// The store lost its state: HZ-2.
#[tokio::test(start_paused = true)]
async fn hz2_an_entry_that_vanished_is_a_store_that_was_reset_and_new_acquires_work() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30)).renewed()).await;
    deleted(&store, "r").await;
    let began = Stopwatch::started();
    assert_eq!(guard.lost().await, LockLoss::StoreReset);
    assert!(began.elapsed() < secs(11), "{:?}", began.elapsed());
    released(&acquired(&theirs.lock("r")).await).await;
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_got_meanwhile_is_taken() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30)).renewed()).await;
    deleted(&store, "r").await;
    let next = acquired(&theirs.lock("r").ttl(secs(60))).await;
    assert!(next.fence() > guard.fence());
    assert_eq!(guard.lost().await, LockLoss::Taken);
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::TakenByOther);
    assert!(is_held(&ours.lock("r")).await);
}

/// RD-2, CO-6: what was lost is renewed no more, what was acquired anew is.
#[tokio::test(start_paused = true)]
async fn rd2_co6_a_lock_that_was_lost_and_acquired_anew_is_renewed() {
    let (store, ours, theirs) = two();
    let lost = acquired(&ours.lock("r").ttl(secs(6)).renewed()).await;
    deleted(&store, "r").await;
    lost.lost().await;
    let anew = acquired(&ours.lock("r").ttl(secs(6)).renewed()).await;
    assert_eq!(ours.renewed(), 1);
    sleep(secs(60)).await;
    assert!(!anew.is_lost());
    assert!(is_held(&theirs.lock("r")).await);
    drop(lost);
    sleep(secs(60)).await;
    assert!(!anew.is_lost(), "the old handle touched the new lock");
}

/// `lost` never ends for a lock that was released.
#[tokio::test(start_paused = true)]
async fn a_lock_that_was_released_is_never_lost() {
    let (_, locks) = faulty();
    let guard = acquired(&locks.lock("r").ttl(secs(2))).await;
    released(&guard).await;
    assert_eq!(semel::timer::within(secs(100), guard.lost()).await, None);
    assert_eq!(guard.loss(), None);
    assert!(guard.remaining().is_zero());
}
