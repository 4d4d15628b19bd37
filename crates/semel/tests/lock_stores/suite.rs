//! What holds on every store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel::core::Clock;
use semel::timer::SystemClock;
use semel::{AcquiredWithin, LockGuard, LockLoss, Locks, Permits, ReleaseOutcome, TryAcquired};
use semel_testkit::StorePlace;

use super::{millis, process, secs};

async fn acquired(locks: &Locks, resource: &str) -> LockGuard {
    match locks.try_acquire(resource, secs(30)).await.unwrap() {
        TryAcquired::Acquired(guard) => guard,
        TryAcquired::Held(by) => panic!("{by}"),
    }
}

async fn waited(locks: &Locks, resource: &str) -> LockGuard {
    match locks.acquire_within(resource, secs(30), secs(60)).await.unwrap() {
        AcquiredWithin::Acquired(guard) => guard,
        AcquiredWithin::TimedOut(by) => panic!("{by}"),
    }
}

async fn one_holder_at_a_time(place: StorePlace) {
    let (ours, theirs) = (process(place.url(), "ours").await, process(place.url(), "theirs").await);
    let guard = acquired(&ours, "r").await;
    let TryAcquired::Held(by) = theirs.try_acquire("r", secs(30)).await.unwrap() else {
        panic!("two holders");
    };
    assert_eq!((by.owner(), by.occupant.fence), (Some("ours"), Some(guard.fence())));
    assert!(by.ttl_left() > secs(25) && by.ttl_left() <= secs(30));
    guard.extend(secs(60)).await.unwrap();
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Released);
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::AlreadyReleased);
    let next = acquired(&theirs, "r").await;
    assert!(next.fence() > guard.fence());
    // RR-2: dropped, it is free at once.
    drop(next);
    drop(waited(&ours, "r").await);
    ours.shutdown(secs(10)).await;
    theirs.shutdown(secs(10)).await;
}

/// RD-5, CO-5: eight wait, one after the other gets it, in order of arrival, without a pause.
async fn waiters_are_served_in_order_without_a_pause(place: StorePlace) {
    let holder = process(place.url(), "holder").await;
    let guard = acquired(&holder, "r").await;
    let clock = Arc::new(SystemClock::new());
    let order = Arc::new(AtomicUsize::new(0));
    let released_at = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut tasks = Vec::new();
    for number in 0..8 {
        let locks = process(place.url(), &format!("waiter {number}")).await;
        let (clock, order, released_at) =
            (Arc::clone(&clock), Arc::clone(&order), Arc::clone(&released_at));
        tasks.push(tokio::spawn(async move {
            let guard = waited(&locks, "r").await;
            let took = clock.now().as_micros() - released_at.load(Ordering::SeqCst);
            assert_eq!(order.fetch_add(1, Ordering::SeqCst), number);
            // Set before: the next may have it before the reply is here.
            released_at.store(clock.now().as_micros(), Ordering::SeqCst);
            guard.release().await.unwrap();
            took
        }));
        // It has its place before the next comes.
        while holder.inspect("r").await.unwrap().unwrap().queue.len() <= number {
            semel::timer::sleep(millis(5)).await;
        }
    }
    released_at.store(clock.now().as_micros(), Ordering::SeqCst);
    guard.release().await.unwrap();
    let mut took = Vec::new();
    for task in tasks {
        took.push(task.await.unwrap());
    }
    println!("hand-offs took {took:?} us");
    // What it takes when nobody is woken is a second. The machine may be busy: eight in four.
    assert!(took.iter().sum::<u64>() < 4_000_000, "{took:?}");
}

/// HZ-6: a holder that died blocks for its lease and no longer.
async fn a_holder_that_died_blocks_for_its_lease(place: StorePlace) {
    let (ours, theirs) = (process(place.url(), "ours").await, process(place.url(), "theirs").await);
    let TryAcquired::Acquired(dead) = ours.try_acquire("r", secs(1)).await.unwrap() else {
        panic!("held by nobody");
    };
    let view = dead.view();
    std::mem::forget(dead);
    let next = waited(&theirs, "r").await;
    assert_eq!(view.loss(), Some(LockLoss::Expired), "it knew before the next one had it");
    assert!(next.fence() > view.fence());
}

async fn permits_readers_and_writers(place: StorePlace) {
    let (ours, theirs) = (process(place.url(), "ours").await, process(place.url(), "theirs").await);
    let two = Permits::new(2).unwrap();
    let a = ours.semaphore("s", two).acquire().await.unwrap();
    let b = theirs.semaphore("s", two).renewed().ttl(secs(2)).acquire().await.unwrap();
    assert!(ours.semaphore("s", two).acquire().await.is_err());
    let c = ours.semaphore("s", two).wait(secs(30));
    let (c, released) = tokio::join!(c.acquire(), async {
        semel::timer::sleep(millis(3_000)).await;
        assert!(!b.is_lost());
        b.release().await.unwrap()
    });
    assert_eq!(released, ReleaseOutcome::Released);
    drop((a, c.unwrap()));
    let reader = ours.read("d").acquire().await.unwrap();
    let other = theirs.read("d").acquire().await.unwrap();
    assert!(ours.write("d").acquire().await.is_err());
    drop((reader, other));
    drop(theirs.write("d").wait(secs(30)).acquire().await.unwrap());
}

/// Over releases and ends, by several at once.
async fn fences_rise(place: StorePlace, grants: usize) {
    let processes = [process(place.url(), "a").await, process(place.url(), "b").await];
    let mut last = semel::Fence::new(0);
    for number in 0..grants {
        let guard = acquired(&processes[number % 2], "r").await;
        assert!(guard.fence() > last, "{number}");
        last = guard.fence();
        assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Released);
    }
}

macro_rules! on {
    ($store:ident, $place:expr, $grants:expr) => {
        mod $store {
            use super::*;

            #[tokio::test(flavor = "multi_thread")]
            async fn one_holder_at_a_time() {
                super::one_holder_at_a_time($place).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn waiters_are_served_in_order_without_a_pause() {
                super::waiters_are_served_in_order_without_a_pause($place).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn a_holder_that_died_blocks_for_its_lease() {
                super::a_holder_that_died_blocks_for_its_lease($place).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn permits_readers_and_writers() {
                super::permits_readers_and_writers($place).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn fences_rise() {
                super::fences_rise($place, $grants).await;
            }
        }
    };
}

on!(sqlite, StorePlace::file().unwrap(), 300);
on!(redis, StorePlace::redis().await.unwrap(), 2_000);
on!(postgres, StorePlace::postgres().await.unwrap(), 300);
