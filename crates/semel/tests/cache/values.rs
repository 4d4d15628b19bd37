//! Getting, setting, adding, removing.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use semel::cache::{
    Cache, CacheError, Lifetime, Refreshed, Removed, TryAdded, TryRemoved, TryReplaced,
};
use semel::core::{KeyError, MemoryLimits};
use semel::timer::SystemClock;
use semel::{Code, MemoryStore};

use super::support::{Bench, secs};

#[tokio::test]
async fn a_value_is_there_until_it_is_removed() {
    let bench = Bench::new();
    assert_eq!(bench.value("k").await, None);
    bench.set("k", "one", Lifetime::default()).await;
    assert_eq!(bench.value("k").await.unwrap(), b"one");
    bench.set("k", "two", Lifetime::default()).await;
    assert_eq!(bench.value("k").await.unwrap(), b"two");
    assert_eq!(bench.cache.remove("k").await.unwrap(), Removed::Removed);
    assert_eq!(bench.value("k").await, None);
    assert_eq!(bench.cache.remove("k").await.unwrap(), Removed::Absent);
}

#[tokio::test]
async fn a_value_of_no_bytes_is_a_value() {
    let bench = Bench::new();
    bench.set("k", "", Lifetime::default()).await;
    assert_eq!(bench.value("k").await.unwrap(), b"");
    assert_eq!(bench.cache.try_add("k", "x", secs(9)).await.unwrap(), TryAdded::Present("".into()));
    assert_eq!(bench.cache.try_remove("k", b"").await.unwrap(), TryRemoved::Removed);
}

#[tokio::test]
async fn what_is_added_is_not_replaced_by_adding() {
    let bench = Bench::new();
    assert_eq!(bench.cache.try_add("k", "one", secs(9)).await.unwrap(), TryAdded::Added);
    let again = bench.cache.try_add("k", "two", secs(99)).await.unwrap();
    assert_eq!(again, TryAdded::Present("one".into()));
    bench.pass(9);
    assert_eq!(bench.cache.try_add("k", "two", secs(9)).await.unwrap(), TryAdded::Added);
    assert_eq!(bench.value("k").await.unwrap(), b"two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_add_at_once_one_does_and_the_others_see_its_value() {
    let bench = Bench::new();
    let tasks: Vec<_> = (0..64_u8)
        .map(|number| {
            let cache = bench.cache.clone();
            tokio::spawn(async move { cache.try_add("k", vec![number], secs(9)).await.unwrap() })
        })
        .collect();
    let mut seen = HashSet::new();
    let mut added = 0;
    for task in tasks {
        match task.await.unwrap() {
            TryAdded::Added => added += 1,
            TryAdded::Present(value) => drop(seen.insert(value)),
        }
    }
    assert_eq!((added, seen.len()), (1, 1));
    assert_eq!(bench.cache.get("k").await.unwrap(), seen.into_iter().next());
}

#[tokio::test]
async fn only_the_value_that_is_meant_is_removed() {
    let bench = Bench::new();
    assert_eq!(bench.cache.try_remove("k", b"one").await.unwrap(), TryRemoved::Absent);
    bench.set("k", "one", Lifetime::default()).await;
    assert_eq!(bench.cache.try_remove("k", b"two").await.unwrap(), TryRemoved::Differs);
    assert_eq!(bench.value("k").await.unwrap(), b"one");
    assert_eq!(bench.cache.try_remove("k", b"one").await.unwrap(), TryRemoved::Removed);
    assert_eq!(bench.value("k").await, None);
}

/// Who was not told that a value is gone does not bring it back.
#[tokio::test]
async fn only_what_is_there_is_replaced() {
    let bench = Bench::new();
    let replaced = bench.cache.try_replace("k", "v", secs(9)).await.unwrap();
    assert_eq!(replaced, TryReplaced::Absent);
    assert_eq!(bench.value("k").await, None);
    bench.set("k", "one", Lifetime::of(secs(9))).await;
    let replaced = bench.cache.try_replace("k", "two", secs(19)).await.unwrap();
    assert_eq!(replaced, TryReplaced::Replaced);
    bench.pass(18);
    assert_eq!(bench.value("k").await.unwrap(), b"two");
    bench.pass(1);
    let replaced = bench.cache.try_replace("k", "three", secs(9)).await.unwrap();
    assert_eq!(replaced, TryReplaced::Absent);
    bench.set("k", "v", Lifetime::sliding(secs(9)).at_most(secs(99))).await;
    bench.pass(9);
    let replaced = bench.cache.try_replace("k", "w", secs(9)).await.unwrap();
    assert_eq!(replaced, TryReplaced::Absent, "it is over, though its bytes are there");
}

/// Being read changes no value, so a reader is never in the way of who removes it.
#[tokio::test]
async fn a_value_that_was_renewed_is_still_this_one() {
    for lifetime in [Lifetime::sliding(secs(9)), Lifetime::sliding(secs(9)).at_most(secs(99))] {
        let bench = Bench::new();
        bench.set("k", "one", lifetime).await;
        bench.pass(1);
        assert_eq!(bench.cache.refresh("k").await.unwrap(), Refreshed::Refreshed);
        assert_eq!(bench.cache.try_remove("k", b"one").await.unwrap(), TryRemoved::Removed);
    }
}

#[tokio::test]
async fn what_costs_one_round_trip_costs_one() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::default()).await;
    assert_eq!(bench.trips(), (1, 0));
    bench.value("k").await;
    assert_eq!(bench.trips(), (1, 1));
    assert!(bench.cache.try_add("k", "w", secs(9)).await.is_ok());
    assert_eq!(bench.trips(), (2, 1));
    bench.set("k", "v", Lifetime::sliding(secs(9)).at_most(secs(99))).await;
    bench.pass(1);
    bench.value("k").await;
    assert_eq!(bench.trips(), (3, 3));
    // Within a hundredth of its time it is not renewed again.
    bench.clock.advance(Duration::from_millis(90));
    bench.value("k").await;
    assert_eq!(bench.trips(), (3, 4));
    bench.clock.advance(Duration::from_micros(1));
    bench.value("k").await;
    assert_eq!(bench.trips(), (3, 6));
    bench.set("k", "v", Lifetime::sliding(secs(9))).await;
    bench.clock.advance(Duration::from_millis(90));
    bench.value("k").await;
    assert_eq!(bench.trips(), (4, 7));
    bench.clock.advance(Duration::from_micros(1));
    bench.value("k").await;
    assert_eq!(bench.trips(), (5, 8));
}

#[tokio::test]
async fn keys_are_checked_at_every_entry() {
    let bench = Bench::new();
    for (key, fault) in [
        ("", KeyError::Empty),
        ("a b", KeyError::WhiteSpace { at: 9 }),
        ("a\u{7}", KeyError::Control { at: 9 }),
    ] {
        let cache = &bench.cache;
        let errors = [
            cache.get(key).await.unwrap_err(),
            cache.refresh(key).await.unwrap_err(),
            cache.set(key, "v", secs(9)).await.unwrap_err(),
            cache.try_add(key, "v", secs(9)).await.unwrap_err(),
            cache.try_replace(key, "v", secs(9)).await.unwrap_err(),
            cache.remove(key).await.unwrap_err(),
            cache.try_remove(key, b"v").await.unwrap_err(),
            cache.keys("", Some(key), 9).await.unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, CacheError::Key(got) if got == fault), "{key:?}: {error:?}");
            assert_eq!(error.problem().unwrap().code(), Code::KeyInvalid);
        }
    }
    assert_eq!(bench.trips(), (0, 0));
}

#[tokio::test]
async fn caches_of_two_names_share_a_store_and_no_keys() {
    let bench = Bench::new();
    let other = Cache::builder(Arc::clone(bench.cache.store())).namespace("-").build().unwrap();
    bench.set("k", "ours", Lifetime::default()).await;
    assert_eq!(other.get("k").await.unwrap(), None);
    other.set("k", "theirs", secs(9)).await.unwrap();
    assert_eq!(bench.value("k").await.unwrap(), b"ours");
    assert_eq!(other.remove("k").await.unwrap(), Removed::Removed);
    assert_eq!(bench.value("k").await.unwrap(), b"ours");
}

fn small() -> Cache {
    let limits = MemoryLimits { value_bytes: 1_000, total_bytes: 4_000 };
    Cache::new(Arc::new(MemoryStore::with_limits(SystemClock::new(), limits)))
}

#[tokio::test]
async fn a_value_over_the_stores_limit_is_refused_and_changes_nothing() {
    let cache = small();
    cache.set("k", "small", secs(9)).await.unwrap();
    let large = vec![0; 1_001];
    for error in [
        cache.set("k", large.clone(), secs(9)).await.unwrap_err(),
        cache.try_add("other", large, secs(9)).await.unwrap_err(),
    ] {
        assert!(matches!(error, CacheError::TooLarge(_)), "{error:?}");
    }
    assert_eq!(cache.get("k").await.unwrap().unwrap(), "small");
    assert_eq!(cache.get("other").await.unwrap(), None);
}

/// A store never throws out what is alive, for it holds claims and locks as well.
#[tokio::test]
async fn a_full_store_refuses_and_evicts_nothing() {
    let cache = small();
    let mut kept = 0;
    let error = loop {
        match cache.set(&format!("k{kept}"), vec![0; 500], secs(9)).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, CacheError::Full(_)), "{error:?}");
    assert_eq!(error.problem().unwrap().code(), Code::StoreFull);
    assert!(kept > 2);
    for number in 0..kept {
        assert!(cache.get(&format!("k{number}")).await.unwrap().is_some(), "{number}");
    }
}
