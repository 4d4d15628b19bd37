//! Leader election.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{Led, LockLoss};

use super::support::stopwatch::Stopwatch;
use super::support::{acquired, deleted, faulty, is_held, millis, over, secs, two};

#[tokio::test(start_paused = true)]
async fn a_leader_leads_until_its_work_ends_and_the_next_one_follows() {
    let (_, ours, theirs) = two();
    let election = ours.election("e");
    let led = election.lead_once(async |guard| {
        sleep(secs(100)).await;
        guard.fence()
    });
    let next = async {
        sleep(secs(1)).await;
        let began = Stopwatch::started();
        let led = theirs.election("e").lead_once(async |guard| guard.fence()).await.unwrap();
        (began.elapsed(), led)
    };
    let (first, (waited, second)) = tokio::join!(led, next);
    let (Led::Finished(first), Led::Finished(second)) = (first.unwrap(), second) else {
        panic!("deposed");
    };
    assert!(first < second);
    assert!(waited >= secs(99) && waited < millis(99_100), "{waited:?}");
}

/// client-go 728: never two at work, the one before has ended before the next one begins; the
/// hand-over takes a lease.
#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_ends_its_work_before_the_next_one_begins() {
    struct Working(Arc<AtomicUsize>);
    impl Working {
        fn begin(count: &Arc<AtomicUsize>) -> Self {
            assert_eq!(count.fetch_add(1, Ordering::SeqCst), 0, "two leaders at work");
            Self(Arc::clone(count))
        }
    }
    impl Drop for Working {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let (store, ours) = faulty();
    let working = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&working);
    let cut_off = tokio::spawn(async move {
        ours.election("e")
            .ttl(secs(5))
            .lead_once(async |_| {
                let _working = Working::begin(&count);
                std::future::pending::<()>().await;
            })
            .await
    });
    sleep(secs(20)).await;
    // Its renewals fail from now on; the other's calls, which look first, do not.
    let began = Stopwatch::started();
    let inner = store.clone();
    for _ in 0..1_000 {
        inner.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    let led = cut_off.await.unwrap().unwrap();
    assert_eq!(led, Led::Deposed(LockLoss::Expired));
    assert!(began.elapsed() < secs(5));
    assert_eq!(working.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn who_was_deposed_stands_again() {
    let (store, ours) = faulty();
    let terms = Arc::new(AtomicUsize::new(0));
    let leads = {
        let terms = Arc::clone(&terms);
        tokio::spawn(async move {
            ours.election("e")
                .ttl(secs(6))
                .lead(|_| {
                    let first = terms.fetch_add(1, Ordering::SeqCst) == 0;
                    async move {
                        if first {
                            std::future::pending::<()>().await;
                        }
                        "done"
                    }
                })
                .await
        })
    };
    sleep(secs(1)).await;
    deleted(&store, "e").await;
    assert_eq!(leads.await.unwrap().unwrap(), "done");
    assert_eq!(terms.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_waited_for() {
    let (store, ours) = faulty();
    for _ in 0..5 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    assert_eq!(ours.election("e").lead_once(async |_| 7).await.unwrap(), Led::Finished(7));
    assert!(!is_held(&over(&store, "looks").lock("e")).await);
}

/// A term ends for others' sake.
#[tokio::test(start_paused = true)]
async fn the_longest_term_gives_the_lead_to_the_next() {
    let (_, ours, theirs) = two();
    let long = ours.election("e").ttl(secs(5)).max_term(secs(30));
    let led =
        tokio::spawn(
            async move { long.lead_once(async |_| std::future::pending::<()>().await).await },
        );
    sleep(secs(1)).await;
    let began = Stopwatch::started();
    theirs.election("e").lead_once(async |_| ()).await.unwrap();
    assert!(began.elapsed() <= secs(30), "{:?}", began.elapsed());
    assert_eq!(led.await.unwrap().unwrap(), Led::Deposed(LockLoss::MaxHold));
    let _free = acquired(&theirs.lock("e")).await;
}
