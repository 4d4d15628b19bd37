//! S-20: nothing about locks is without end.

use std::sync::Arc;

use semel::core::MemoryLimits;
use semel::core::lock::LockEntry;
use semel::timer::{SystemClock, sleep};
use semel::{LockError, LockSettingError, Locks, MemoryStore, Permits, ProblemKind};

use super::support::{acquired, faulty, memory, millis, over, released, secs, two, waited};

/// More want one lock than its entry has places for. Those who found none get one when others have
/// gone, and are served.
#[tokio::test(start_paused = true)]
async fn s20_a_queue_has_so_many_places_and_who_comes_later_is_served_later() {
    let (store, ours) = faulty();
    let guard = acquired(&ours.lock("r").ttl(secs(600))).await;
    let mut tasks = Vec::new();
    for process in 0..18 {
        let theirs = over(&store, &format!("process {process}"));
        for _ in 0..16 {
            let theirs = theirs.clone();
            tasks.push(tokio::spawn(async move {
                released(&waited(&theirs.lock("r"), secs(3_600)).await).await;
            }));
        }
    }
    let mut longest = 0;
    for _ in 0..50 {
        sleep(millis(100)).await;
        longest = longest.max(ours.inspect("r").await.unwrap().unwrap().queue.len());
        assert!(longest <= LockEntry::MOST_WAITERS, "{longest} in one queue");
    }
    assert_eq!(longest, LockEntry::MOST_WAITERS, "the void rule: it was never full");
    let last = tasks.split_off(240);
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    released(&guard).await;
    for task in last {
        task.await.unwrap();
    }
}

/// A store that is bounded is full of locks at some point. Those that are held stay held, can be
/// renewed and given back; new ones are refused, and told as that.
#[tokio::test(start_paused = true)]
async fn s20_names_without_end_fill_a_bounded_store_and_cost_nobody_a_lock() {
    let limits = MemoryLimits { total_bytes: 200_000, value_bytes: 100_000 };
    let store = MemoryStore::with_limits(SystemClock::new(), limits);
    let locks = Locks::new(Arc::new(store));
    let mut guards = Vec::new();
    let refused = loop {
        match locks.lock(&format!("r:{}", guards.len())).ttl(secs(10)).renewed().acquire().await {
            Ok(guard) => guards.push(guard),
            Err(error) => break error,
        }
    };
    assert!(guards.len() > 100, "only {}", guards.len());
    assert!(matches!(refused, LockError::Refused(_)), "{refused:?}");
    assert!(matches!(refused.problem().unwrap().kind(), ProblemKind::StoreFull));
    sleep(secs(30)).await;
    for guard in &guards {
        assert_eq!(guard.loss(), None);
        released(guard).await;
    }
    released(&acquired(&locks.lock("another")).await).await;
}

/// Names, times and numbers of holders have ends of their own, and what is beyond is refused by name.
#[tokio::test(start_paused = true)]
async fn s20_names_times_and_permits_have_ends() {
    let locks = over(&memory(), "ours");
    let longest = "x".repeat(512 - "lock:".len());
    released(&acquired(&locks.lock(&longest)).await).await;
    let error = locks.try_acquire(&format!("{longest}x"), secs(10)).await.unwrap_err();
    assert!(matches!(error, LockError::Resource(_)), "{error:?}");
    let years = secs(11 * 366 * 24 * 3_600);
    let error = locks.try_acquire("r", years).await.unwrap_err();
    let is_told =
        matches!(error, LockError::Setting(LockSettingError::Duration { setting: "ttl", .. }));
    assert!(is_told, "{error:?}");
    assert!(Permits::new(usize::from(Permits::MOST)).is_ok());
    assert!(Permits::new(usize::from(Permits::MOST) + 1).is_err());
}

/// Renewals of a process travel together: a thousand locks are a thousand calls each third of their
/// lease, and not more while others wait for them.
#[tokio::test(start_paused = true)]
async fn s20_a_thousand_locks_are_renewed_by_a_thousand_calls_a_third_of_their_lease() {
    let (store, ours, _) = two();
    let mut guards = Vec::new();
    for number in 0..1_000 {
        guards.push(acquired(&ours.lock(&format!("r:{number}")).ttl(secs(30)).renewed()).await);
    }
    sleep(secs(15)).await;
    let before = store.calls(semel::core::StoreOp::Swap);
    sleep(secs(30)).await;
    let renewals = store.calls(semel::core::StoreOp::Swap) - before;
    assert!((2_900..=3_300).contains(&renewals), "{renewals} renewals in a lease");
    assert!(guards.iter().all(|guard| !guard.is_lost()));
}
