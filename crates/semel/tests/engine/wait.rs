//! Waiting for a call in flight.

use std::sync::Arc;

use semel::core::{FaultAction, StoreOp};
use semel::timer::sleep;
use semel::{Begun, Call, InFlight, Once};
use tokio::task::JoinHandle;

use super::support::stopwatch::Stopwatch;
use super::support::{
    LEASE, bytes, call, faulty, fresh, impatient, millis, patient, planned, policy, polled,
    recorded, secs, trips, until,
};

/// A waiter, and when it was answered, in seconds from now.
fn waiter(once: &Once, call: &Call) -> JoinHandle<(Begun, f64)> {
    let (once, call, began) = (once.clone(), call.clone(), Stopwatch::started());
    tokio::spawn(async move {
        let begun = once.begin(&call).await;
        (begun, began.elapsed().as_secs_f64())
    })
}

fn assert_replays(begun: &Begun, payload: &[u8]) {
    let Begun::Replay(replay) = begun else { panic!("{begun:?}") };
    assert_eq!(replay.outcome.payload, payload);
}

/// I2, S2, R10: one run, and all who wait get its answer; they share one watch and one read.
#[tokio::test(start_paused = true)]
async fn ten_thousand_waiters_share_one_watch_and_are_answered_together() {
    let (store, once) = faulty();
    let many =
        policy(|policy| policy.in_flight(InFlight::Wait(secs(50))).max_waiters_per_key(10_000));
    let call = call(&many, "k");
    let mut claim = fresh(&once, &call).await;
    let waiters: Vec<_> = (0..10_000).map(|_| waiter(&once, &call)).collect();
    until("all wait", || trips(&store).0 == 10_001).await;
    assert_eq!(once.watched(), 1);
    let before = trips(&store);
    assert!(before.1 <= 2, "{} reads", before.1);
    recorded(&mut claim, bytes(b"answer")).await;
    let recorded_at = Stopwatch::started();
    for waiter in waiters {
        assert_replays(&waiter.await.unwrap().0, b"answer");
    }
    assert!(recorded_at.elapsed() < secs(1), "{:?}", recorded_at.elapsed());
    let after = trips(&store);
    assert!(after.0 == before.0 + 1 && after.1 <= before.1 + 2, "{before:?} {after:?}");
    until("nobody is left", || once.watched() == 0).await;
}

/// One read every one to one and a half seconds, however many wait.
#[tokio::test(start_paused = true)]
async fn the_poll_behind_the_hints_is_slow() {
    let (store, once) = faulty();
    let call = call(&patient(secs(30)), "k");
    let claim = fresh(&once, &call).await;
    let waiters: Vec<_> = (0..100).map(|_| waiter(&once, &call)).collect();
    sleep(secs(15)).await;
    let (_, reads) = trips(&store);
    assert!((10..=16).contains(&reads), "{reads}");
    sleep(secs(16)).await;
    for waiter in waiters {
        let (begun, after) = waiter.await.unwrap();
        assert!(matches!(begun, Begun::Busy(_)), "{begun:?}");
        assert!((30.0..30.01).contains(&after), "{after}");
    }
    until("nobody is left", || once.watched() == 0).await;
    drop(claim);
}

/// F-74, F-113: a lost hint costs time and never truth.
#[tokio::test(start_paused = true)]
async fn a_lost_hint_costs_a_second_and_a_half_at_most() {
    let (_, once) = planned(|fault| match fault.op {
        StoreOp::Changed => FaultAction::LoseHint,
        _ => FaultAction::Pass,
    });
    for tenths in 0..20 {
        let call = call(&patient(secs(50)), &format!("k{tenths}"));
        let mut claim = fresh(&once, &call).await;
        let waiter = waiter(&once, &call);
        let works = millis(10_000 + 100 * tenths);
        sleep(works).await;
        recorded(&mut claim, bytes(b"answer")).await;
        let (begun, after) = waiter.await.unwrap();
        assert_replays(&begun, b"answer");
        assert!(after - works.as_secs_f64() <= 1.51, "{after}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_comes_is_followed_at_once() {
    let (_, once) = faulty();
    let call = call(&patient(secs(50)), "k");
    let mut claim = fresh(&once, &call).await;
    let waiter = waiter(&once, &call);
    sleep(millis(10_300)).await;
    recorded(&mut claim, bytes(b"answer")).await;
    let (begun, after) = waiter.await.unwrap();
    assert_replays(&begun, b"answer");
    assert!(after < 10.302, "{after}");
}

/// Hints that come without end and without reason make nobody run in circles.
#[tokio::test(start_paused = true)]
async fn false_hints_are_harmless() {
    let (store, once) = planned(|fault| match fault.op {
        StoreOp::Changed => FaultAction::FalseHint,
        _ => FaultAction::Pass,
    });
    let call = call(&patient(secs(50)), "k");
    let mut claim = fresh(&once, &call).await;
    let waiter = waiter(&once, &call);
    sleep(secs(10)).await;
    let (_, reads) = trips(&store);
    assert!(reads <= 1_010, "{reads} in ten seconds");
    recorded(&mut claim, bytes(b"answer")).await;
    let (begun, after) = waiter.await.unwrap();
    assert_replays(&begun, b"answer");
    assert!(after < 10.05, "{after}");
}

/// R10: who goes away leaves nothing behind, and the call goes on.
#[tokio::test(start_paused = true)]
async fn a_waiter_that_goes_away_leaves_nothing_behind() {
    let (store, once) = faulty();
    let call = call(&patient(secs(50)), "k");
    let mut claim = fresh(&once, &call).await;
    for polls in 1..5 {
        assert!(polled(polls, once.begin(&call)).await.is_none());
        until("nobody waits", || once.watched() == 0).await;
    }
    let stays = waiter(&once, &call);
    let goes = waiter(&once, &call);
    sleep(secs(1)).await;
    goes.abort();
    sleep(secs(1)).await;
    assert_eq!(once.watched(), 1);
    let (_, reads) = trips(&store);
    recorded(&mut claim, bytes(b"answer")).await;
    assert_replays(&stays.await.unwrap().0, b"answer");
    until("nobody waits", || once.watched() == 0).await;
    let (_, later) = trips(&store);
    assert!(later <= reads + 2);
    sleep(secs(100)).await;
    assert_eq!(trips(&store).1, later, "nobody reads any more");
}

/// A lease that ends makes no hint, and is waited for all the same; one of those who wait takes
/// over, and the others wait for that one.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_lease_wakes_those_who_wait() {
    let (_, once) = faulty();
    let call = call(&patient(secs(500)), "k");
    drop(fresh(&once, &call).await);
    let waiters = (0..50).map(|_| {
        let (once, call, began) = (once.clone(), call.clone(), Stopwatch::started());
        tokio::spawn(async move {
            match once.begin(&call).await {
                Begun::Fresh(mut claim) => {
                    let after = began.elapsed();
                    assert!((LEASE..LEASE + millis(10)).contains(&after), "{after:?}");
                    sleep(LEASE * 2).await;
                    recorded(&mut claim, bytes(b"second")).await;
                    Some(claim.permit().attempt())
                }
                begun => {
                    assert_replays(&begun, b"second");
                    None
                }
            }
        })
    });
    let mut attempts = Vec::new();
    for waiter in waiters.collect::<Vec<_>>() {
        attempts.extend(waiter.await.unwrap());
    }
    assert_eq!(attempts, [2]);
}

/// S-21: more than the policy lets wait are answered at once.
#[tokio::test(start_paused = true)]
async fn no_more_wait_than_the_policy_says() {
    let (_, once) = faulty();
    for most in [0, 3] {
        let few =
            policy(|policy| policy.in_flight(InFlight::Wait(secs(20))).max_waiters_per_key(most));
        let call = call(&few, &format!("k{most}"));
        let claim = fresh(&once, &call).await;
        let mut waited = Vec::new();
        for waiter in (0..10).map(|_| waiter(&once, &call)).collect::<Vec<_>>() {
            let (begun, after) = waiter.await.unwrap();
            assert!(matches!(begun, Begun::Busy(_)), "{begun:?}");
            waited.push(after > 1.0);
        }
        assert_eq!(waited.iter().filter(|waited| **waited).count(), most);
        drop(claim);
    }
}

/// What was seen before one began to wait may be old news by then. Waiters who acted on it used
/// to come back at once, again and again, until the watch looked anew.
#[tokio::test(start_paused = true)]
async fn nobody_acts_on_what_was_seen_before_it_came() {
    let (store, once) = planned(|fault| match fault.op {
        StoreOp::Changed => FaultAction::LoseHint,
        _ => FaultAction::Pass,
    });
    let call = call(&patient(secs(50)), "k");
    let claim = fresh(&once, &call).await;
    let waiters: Vec<_> = (0..20).map(|_| waiter(&once, &call)).collect();
    sleep(millis(10_100)).await;
    assert_eq!(claim.release().await, semel::GivenUp::Settled);
    let before = trips(&store).0;
    // One of them runs, the others lose to it and wait again.
    until("one runs", || once.held() == 1).await;
    sleep(secs(1)).await;
    let swaps = trips(&store).0 - before;
    assert!(swaps <= 2 * 20, "{swaps} swaps of 20 waiters");
    waiters.iter().for_each(JoinHandle::abort);
}

/// All waiters have gone when the call ends: nothing is left of the watch but what is dropped.
#[tokio::test(start_paused = true)]
async fn a_key_is_watched_anew_after_its_watch_has_ended() {
    let (_, once) = faulty();
    for round in 0..5 {
        let call = call(&patient(secs(20)), "k");
        let claim = fresh(&once, &call).await;
        let waiter = waiter(&once, &call);
        sleep(millis(1_500)).await;
        assert_eq!(once.watched(), 1, "{round}");
        assert_eq!(claim.release().await, semel::GivenUp::Settled);
        let (Begun::Fresh(claim), after) = waiter.await.unwrap() else { panic!() };
        assert!(after < 1.51, "{after}");
        assert_eq!(claim.release().await, semel::GivenUp::Settled);
        until("nobody waits", || once.watched() == 0).await;
    }
}

/// A budget is one for all of a call's waiting, not one for each round of it.
#[tokio::test(start_paused = true)]
async fn the_budget_holds_over_several_owners() {
    let (_, once) = faulty();
    let call = call(&patient(secs(10)), "k");
    let mut claim = Some(fresh(&once, &call).await);
    let waiter = waiter(&once, &call);
    for _ in 0..3 {
        sleep(secs(4)).await;
        // Whoever comes right after the release is faster than those who wait.
        let released = claim.take().unwrap().release();
        assert_eq!(released.await, semel::GivenUp::Settled);
        claim = Some(fresh(&once, &super::support::call(&impatient(), "k")).await);
        if waiter.is_finished() {
            break;
        }
    }
    let (begun, after) = waiter.await.unwrap();
    assert!(matches!(begun, Begun::Busy(_)), "{begun:?}");
    assert!((10.0..10.01).contains(&after), "{after}");
}

/// The waiters of one engine in two runtimes: one of them stands still.
#[test]
fn a_runtime_that_stands_still_holds_up_no_waiters_of_another() {
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let (still, moving) = (runtime().unwrap(), runtime().unwrap());
    let clock = semel::core::ManualClock::at(semel::core::StoreTime::from_micros(1));
    let once = Once::new(Arc::new(semel::MemoryStore::new(clock)));
    let call = call(&patient(secs(20)), "k");
    let mut claim = still.block_on(async {
        let claim = fresh(&once, &call).await;
        let waiter = waiter(&once, &call);
        sleep(secs(1)).await;
        assert!(!waiter.is_finished());
        claim
    });
    moving.block_on(async {
        let waiter = waiter(&once, &call);
        sleep(secs(3)).await;
        assert_eq!(once.watched(), 2);
        recorded(&mut claim, bytes(b"answer")).await;
        let (begun, after) = waiter.await.unwrap();
        assert_replays(&begun, b"answer");
        assert!(after < 3.01, "{after}");
    });
    drop(still);
    assert_eq!(once.watched(), 0);
}
