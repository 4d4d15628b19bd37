//! Waiting for one's turn.

use std::sync::Arc;

use parking_lot::Mutex;
use semel::core::{FaultAction, StoreOp};
use semel::timer::sleep;
use semel::{AcquiredWithin, LockError, TryAcquired};

use super::support::stopwatch::Stopwatch;
use super::support::{acquired, faulty, is_held, millis, over, released, secs, two, until, waited};

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_released_goes_to_who_waits() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r")).await;
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(60)).await });
    sleep(millis(500)).await;
    let began = Stopwatch::started();
    released(&guard).await;
    let next = waits.await.unwrap();
    assert!(began.elapsed() < millis(50), "{:?}", began.elapsed());
    assert!(next.fence() > guard.fence());
    assert!(next.remaining() > secs(9));
}

/// RD-5, RD-6: hints are lost; the poll behind them finds the lock within a second.
#[tokio::test(start_paused = true)]
async fn rd5_rd6_a_waiter_that_gets_no_hint_finds_a_free_lock_within_a_second() {
    let (store, ours, theirs) = two();
    for _ in 0..1_000 {
        store.next(StoreOp::Changed, FaultAction::LoseHint);
    }
    let guard = acquired(&ours.lock("r").ttl(secs(3_600))).await;
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(600)).await });
    sleep(secs(30)).await;
    let began = Stopwatch::started();
    released(&guard).await;
    drop(waits.await.unwrap());
    assert!(began.elapsed() <= secs(1), "{:?}", began.elapsed());
}

/// The process that changes a lock tells of it, and so does the store: the second of these hints is
/// an echo. A waiter once rested after an echo, and slept through the release that came then.
#[tokio::test(start_paused = true)]
async fn an_echo_of_a_change_does_not_make_a_waiter_miss_the_next_one() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r")).await;
    for _ in 0..2 {
        store.next(StoreOp::Changed, FaultAction::FalseHint);
    }
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(60)).await });
    sleep(millis(1)).await;
    let began = Stopwatch::started();
    released(&guard).await;
    drop(waits.await.unwrap());
    assert!(began.elapsed() < millis(2), "{:?}", began.elapsed());
}

/// RD-6: an end that nobody publishes wakes waiters too.
#[tokio::test(start_paused = true)]
async fn rd6_a_lease_that_ends_wakes_who_waits() {
    let (_, ours, theirs) = two();
    std::mem::forget(acquired(&ours.lock("r").ttl(secs(7))).await);
    let began = Stopwatch::started();
    drop(waited(&theirs.lock("r"), secs(60)).await);
    assert!(began.elapsed() >= secs(7) && began.elapsed() < millis(7_020), "{:?}", began.elapsed());
}

/// M2 L10, rule 12: in order of arrival, over processes.
#[tokio::test(start_paused = true)]
async fn waiters_are_served_in_order_of_arrival() {
    let (store, ours) = faulty();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    let processes = [over(&store, "a"), over(&store, "b"), over(&store, "c")];
    for number in 0..12 {
        let (locks, order) = (processes[number % 3].clone(), Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            let guard = waited(&locks.lock("r"), secs(600)).await;
            order.lock().push((number, guard.fence()));
            sleep(millis(700)).await;
            released(&guard).await;
        }));
        sleep(millis(37)).await;
    }
    let TryAcquired::Held(by) = ours.try_acquire("r", secs(1)).await.unwrap() else {
        panic!("two holders");
    };
    assert_eq!(by.occupant.waiting, 12);
    assert_eq!(processes[0].watched(), 1);
    sleep(secs(10)).await;
    released(&guard).await;
    for task in tasks {
        task.await.unwrap();
    }
    let order = order.lock();
    assert!(order.iter().map(|(number, _)| *number).eq(0..12), "{order:?}");
    assert!(order.is_sorted_by(|a, b| a.1 < b.1), "{order:?}");
}

/// Documented: who only tries takes what is free at the moment, past those who wait.
#[tokio::test(start_paused = true)]
async fn who_tries_goes_past_those_who_wait_and_who_waits_does_not() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let lock = theirs.lock("r").ttl(secs(600));
    let first = tokio::spawn(async move { waited(&lock, secs(600)).await });
    sleep(secs(1)).await;
    // Whoever has the first place hears of nothing for a moment.
    let gate = semel::core::Gate::closed();
    store.next(StoreOp::Read, FaultAction::HoldBefore(gate.clone()));
    released(&guard).await;
    let late = over(&store, "late").lock("r");
    let waits = late.acquire_within(secs(0)).await.unwrap();
    assert!(matches!(waits, AcquiredWithin::TimedOut(_)), "{waits:?}");
    let tries = acquired(&late).await;
    gate.open();
    released(&tries).await;
    let first = first.await.unwrap();
    assert!(first.fence() > tries.fence());
}

/// ETR-5, rule 11: the place of a process that died is good for three seconds, not for a ttl.
#[tokio::test(start_paused = true)]
async fn a_waiter_that_died_holds_up_the_others_for_three_seconds_at_most() {
    let (store, ours) = faulty();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let dies = over(&store, "dies");
    let lock = dies.lock("r").ttl(secs(600));
    let dead = tokio::spawn(async move { lock.acquire_within(secs(600)).await });
    sleep(secs(5)).await;
    let lock = over(&store, "waits").lock("r");
    let waits = tokio::spawn(async move { waited(&lock, secs(600)).await });
    sleep(secs(5)).await;
    assert_eq!(ours.inspect("r").await.unwrap().unwrap().queue.len(), 2);
    // Its process can't say any more that it has gone.
    dies.shutdown(secs(0)).await;
    assert!(matches!(dead.await.unwrap(), Err(LockError::Cancelled)));
    let began = Stopwatch::started();
    released(&guard).await;
    drop(waits.await.unwrap());
    assert!(began.elapsed() <= millis(3_050), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn who_waits_too_long_is_told_by_whom_it_is_held_and_leaves_the_queue() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(60))).await;
    let began = Stopwatch::started();
    let AcquiredWithin::TimedOut(by) = theirs.acquire_within("r", secs(10), secs(5)).await.unwrap()
    else {
        panic!("two holders");
    };
    assert_eq!(began.elapsed(), secs(5));
    assert_eq!(by.owner(), Some("ours"));
    assert!(by.ttl_left() > secs(54) && by.ttl_left() <= secs(56), "{:?}", by.ttl_left());
    until("given back", || theirs.pending() == 0).await;
    assert!(ours.inspect("r").await.unwrap().unwrap().queue.is_empty());
    assert_eq!(theirs.watched(), 0);
    released(&guard).await;
    let error = {
        let _guard = acquired(&ours.lock("r")).await;
        theirs.lock("r").wait(secs(1)).acquire().await.unwrap_err()
    };
    assert!(matches!(error, LockError::TimedOut(_)), "{error:?}");
}

/// CO-10: there is no hidden most.
#[tokio::test(start_paused = true)]
async fn co10_waiting_for_days_works() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30)).renewed()).await;
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(3 * 86_400)).await });
    sleep(secs(86_400)).await;
    assert!(!waits.is_finished());
    assert!(!guard.is_lost());
    released(&guard).await;
    drop(waits.await.unwrap());
    // And for ever is no number that overflows.
    let (_, ours, theirs) = two();
    std::mem::forget(acquired(&ours.lock("r").ttl(secs(2))).await);
    drop(waited(&theirs.lock("r"), std::time::Duration::MAX).await);
}

/// RR-8: no time at all is no time.
#[tokio::test(start_paused = true)]
async fn rr8_waiting_for_no_time_is_trying() {
    let (_, ours, theirs) = two();
    let _guard = acquired(&ours.lock("r")).await;
    let began = Stopwatch::started();
    let none = theirs.acquire_within("r", secs(1), secs(0)).await.unwrap();
    assert!(matches!(none, AcquiredWithin::TimedOut(_)));
    assert!(began.elapsed() < millis(5));
}

/// A waiter never makes the lease of a holder that died longer.
#[tokio::test(start_paused = true)]
async fn waiting_does_not_lengthen_the_lease_of_a_dead_holder_by_a_moment() {
    let (_, ours, theirs) = two();
    let began = Stopwatch::started();
    std::mem::forget(acquired(&ours.lock("r").ttl(secs(20))).await);
    let mut tasks = Vec::new();
    for _ in 0..5 {
        let theirs = theirs.clone();
        tasks.push(tokio::spawn(async move {
            let guard = waited(&theirs.lock("r"), secs(60)).await;
            released(&guard).await;
        }));
        sleep(secs(3)).await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(
        began.elapsed() >= secs(20) && began.elapsed() < millis(20_200),
        "{:?}",
        began.elapsed()
    );
}

/// A holder renews while others wait, each of them writing the same entry.
#[tokio::test(start_paused = true)]
async fn a_holder_is_renewed_while_others_wait() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(6)).renewed()).await;
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(600)).await });
    sleep(secs(300)).await;
    assert!(!guard.is_lost() && !waits.is_finished());
    released(&guard).await;
    drop(waits.await.unwrap());
}

/// The waiters of one process share one watch, and none is left behind.
#[tokio::test(start_paused = true)]
async fn a_thousand_waiters_of_one_process_share_a_watch() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let tasks: Vec<_> = (0..1_000)
        .map(|_| {
            let theirs = theirs.clone();
            tokio::spawn(async move { drop(waited(&theirs.lock("r"), secs(600)).await) })
        })
        .collect();
    sleep(secs(10)).await;
    assert_eq!(theirs.watched(), 1);
    let before = store.calls(StoreOp::Read);
    sleep(secs(10)).await;
    let reads = store.calls(StoreOp::Read) - before;
    assert!(reads < 60, "{reads} looks in ten seconds");
    released(&guard).await;
    for task in tasks {
        task.await.unwrap();
    }
    until("nobody waits", || theirs.watched() == 0 && theirs.pending() == 0).await;
    assert!(!is_held(&ours.lock("r")).await);
}
