//! Acquisitions that are dropped at any await.

use semel::core::Store;
use semel::timer::sleep;
use semel::{LockBuilder, Locks};

use super::support::around::{Late, Stepping, Wrapped};
use super::support::stopwatch::Stopwatch;
use super::support::{acquired, is_held, memory, millis, over, polled, released, secs, until};

const TTL: u64 = 600;

/// Nothing is held, renewed, waited for or on its way.
async fn nothing_is_left(store: &(impl Store + Clone), ours: &Locks, polls: usize) {
    let began = Stopwatch::started();
    until("given back", || ours.pending() == 0).await;
    assert!(began.elapsed() < secs(20), "{polls} polls: {:?}", began.elapsed());
    assert_eq!((ours.renewed(), ours.held(), ours.watched()), (0, 0, 0), "{polls} polls");
    let looks = over(store, "looks");
    let status = looks.inspect("r").await.unwrap();
    assert!(status.is_none(), "{polls} polls: {status:?}");
}

/// RD-3, RS-8, RR-9, rule 9: polled so many times and dropped, for each number of polls.
async fn swept(ask: impl Fn(&Locks) -> LockBuilder, wait: u64) -> usize {
    for polls in 1..2_000 {
        let store = Wrapped::new(Stepping);
        let ours = over(&store, "ours");
        let lock = ask(&ours);
        let done = if wait == 0 {
            polled(polls, lock.acquire()).await.is_some()
        } else {
            polled(polls, lock.acquire_within(secs(wait))).await.is_some()
        };
        nothing_is_left(&store, &ours, polls).await;
        if done {
            return polls;
        }
    }
    panic!("it never ended");
}

#[tokio::test(start_paused = true)]
async fn rs8_an_acquisition_that_is_dropped_at_any_await_leaves_nothing_behind() {
    let lock = |ours: &Locks| ours.lock("r").ttl(secs(TTL)).renewed();
    assert!(swept(lock, 0).await > 2);
    assert!(swept(lock, 60).await > 2);
}

#[tokio::test(start_paused = true)]
async fn rs8_a_wait_that_is_dropped_at_any_await_leaves_no_place_in_the_queue() {
    let mut ended = None;
    for polls in 1..400 {
        let store = Wrapped::new(Stepping);
        let (ours, theirs) = (over(&store, "ours"), over(&store, "theirs"));
        let guard = acquired(&theirs.lock("r").ttl(secs(TTL))).await;
        let releases = tokio::spawn(async move {
            sleep(millis(40)).await;
            released(&guard).await;
        });
        let lock = ours.lock("r").ttl(secs(TTL)).renewed();
        let done = polled(polls, lock.acquire_within(secs(60))).await.is_some();
        releases.await.unwrap();
        nothing_is_left(&store, &ours, polls).await;
        if done {
            ended = Some(polls);
            break;
        }
    }
    assert!(ended.is_some_and(|polls| polls > 40), "{ended:?}");
}

/// What was dropped does not keep a lock from those who want it for longer than it takes to say
/// so, even when its write lands late.
#[tokio::test(start_paused = true)]
async fn hz5_an_acquisition_whose_write_lands_late_is_given_back() {
    let store = Wrapped::new(Late::default());
    let ours = over(&store, "ours");
    let gate = store.around.next();
    assert!(
        polled(1, ours.lock("r").ttl(secs(TTL)).acquire()).await.is_some_and(|got| got.is_ok())
    );
    until("given back", || ours.pending() == 0).await;
    let gate_of_dropped = store.around.next();
    store.around.blind.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(
        polled(1, ours.lock("r").ttl(secs(TTL)).acquire()).await.is_some_and(|got| got.is_err())
    );
    store.around.blind.store(false, std::sync::atomic::Ordering::SeqCst);
    gate_of_dropped.open();
    until("given back", || ours.pending() == 0).await;
    assert!(!is_held(&over(&store, "theirs").lock("r")).await);
    drop(gate);
}

/// A release that is dropped at any await leaves the lock to be given back in the background.
#[tokio::test(start_paused = true)]
async fn a_release_that_is_dropped_at_any_await_is_seen_through() {
    for polls in 1..10 {
        let store = Wrapped::new(Stepping);
        let ours = over(&store, "ours");
        let guard = acquired(&ours.lock("r").ttl(secs(TTL)).renewed()).await;
        let done = polled(polls, guard.release()).await.is_some();
        drop(guard);
        nothing_is_left(&store, &ours, polls).await;
        if done {
            assert!(polls > 1);
            return;
        }
    }
    panic!("it never ended");
}

/// The plain store gives no await to be dropped at.
#[tokio::test(start_paused = true)]
async fn one_poll_is_enough_where_nothing_has_to_be_waited_for() {
    let store = memory();
    let ours = over(&store, "ours");
    assert!(polled(1, ours.lock("r").acquire()).await.is_some());
}
