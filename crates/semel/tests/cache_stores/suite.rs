//! What holds on every store.

use std::collections::HashSet;

use semel::cache::{
    Cache, CacheError, Lifetime, Refreshed, Removed, TryAdded, TryRemoved, TryReplaced,
};
use semel::core::{Clock, Expect, Next, Swap};
use semel::timer::{SystemClock, sleep};

use super::{Place, millis, secs};

async fn keys(cache: &Cache, prefix: &str, limit: usize) -> Vec<String> {
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let page = cache.keys(prefix, after.as_deref(), limit).await.unwrap();
        keys.extend(page.keys.iter().map(|key| (**key).to_owned()));
        match page.next {
            Some(next) => after = Some(next),
            None => return keys,
        }
    }
}

async fn every_operation_is_seen_by_another_process(place: Place) {
    let (ours, theirs) = (place.process().await, place.process().await);
    assert_eq!(theirs.get("k").await.unwrap(), None);
    assert_eq!(theirs.refresh("k").await.unwrap(), Refreshed::Absent);
    assert_eq!(theirs.remove("k").await.unwrap(), Removed::Absent);
    assert_eq!(ours.try_replace("k", "no", secs(60)).await.unwrap(), TryReplaced::Absent);
    assert_eq!(ours.try_add("k", "one", secs(60)).await.unwrap(), TryAdded::Added);
    let present = TryAdded::Present("one".into());
    assert_eq!(theirs.try_add("k", "two", secs(60)).await.unwrap(), present);
    ours.set("k", "three", secs(60)).await.unwrap();
    assert_eq!(theirs.get("k").await.unwrap().unwrap(), "three");
    assert_eq!(theirs.refresh("k").await.unwrap(), Refreshed::Refreshed);
    assert_eq!(theirs.try_remove("k", b"one").await.unwrap(), TryRemoved::Differs);
    assert_eq!(theirs.try_replace("k", "four", secs(60)).await.unwrap(), TryReplaced::Replaced);
    assert_eq!(ours.try_remove("k", b"four").await.unwrap(), TryRemoved::Removed);
    assert_eq!(theirs.try_remove("k", b"four").await.unwrap(), TryRemoved::Absent);
    // No bytes are a value, and all bytes come back.
    let all: Vec<u8> = (0..=255).collect();
    for value in [Vec::new(), all, vec![0; 100_000]] {
        ours.set("k", value.clone(), Lifetime::sliding(secs(60))).await.unwrap();
        assert_eq!(theirs.get("k").await.unwrap().unwrap(), value);
    }
    assert_eq!(theirs.remove("k").await.unwrap(), Removed::Removed);
    assert_eq!(ours.get("k").await.unwrap(), None);
    let pairs = ours.typed::<(u64, Option<String>)>();
    pairs.set("t", &(7, None), secs(60)).await.unwrap();
    assert_eq!(theirs.typed().get("t").await.unwrap(), Some((7_u64, None::<String>)));
}

async fn of_64_who_add_at_once_one_does(place: Place) {
    let mut processes = Vec::new();
    for _ in 0..4 {
        processes.push(place.process().await);
    }
    let tasks: Vec<_> = (0..64_u8)
        .map(|number| {
            let cache = processes[usize::from(number) % 4].clone();
            tokio::spawn(async move { (number, cache.try_add("k", vec![number], secs(60)).await) })
        })
        .collect();
    let (mut added, mut seen) = (Vec::new(), HashSet::new());
    for task in tasks {
        match task.await.unwrap() {
            (number, Ok(TryAdded::Added)) => added.push(vec![number]),
            (_, Ok(TryAdded::Present(value))) => drop(seen.insert(value.to_vec())),
            (_, Err(error)) => panic!("{error:?}"),
        }
    }
    assert_eq!(added.len(), 1, "{added:?}");
    assert_eq!(seen, added.into_iter().collect());
}

async fn of_16_who_remove_one_value_one_does(place: Place) {
    let (ours, theirs) = (place.process().await, place.process().await);
    ours.set("k", "v", secs(60)).await.unwrap();
    let tasks: Vec<_> = (0..16)
        .map(|number| {
            let cache = [&ours, &theirs][number % 2].clone();
            tokio::spawn(async move { cache.try_remove("k", b"v").await.unwrap() })
        })
        .collect();
    let mut removed = 0;
    for task in tasks {
        match task.await.unwrap() {
            TryRemoved::Removed => removed += 1,
            other => assert_eq!(other, TryRemoved::Absent),
        }
    }
    assert_eq!(removed, 1);
}

/// Reads until the value is absent, and says how long it was there for: at least, and at most.
async fn lived(cache: &Cache, lifetime: Lifetime, pause: std::time::Duration) -> (u64, u64) {
    let clock = SystemClock::new();
    let before = clock.now();
    cache.set("k", "v", lifetime).await.unwrap();
    let after = clock.now();
    let mut seen = 0;
    loop {
        let asked = clock.now();
        if cache.get("k").await.unwrap().is_none() {
            let absent = clock.now().since(before).as_millis();
            return (seen, u64::try_from(absent).unwrap());
        }
        seen = u64::try_from(asked.since(after).as_millis()).unwrap();
        sleep(pause).await;
    }
}

async fn a_sliding_value_that_is_read_lives_up_to_its_end_and_no_longer(place: Place) {
    let cache = place.process().await;
    let lifetime = Lifetime::sliding(millis(2_000)).at_most(millis(4_000));
    let (seen, absent) = lived(&cache, lifetime, millis(100)).await;
    assert!(seen < 4_000, "seen {seen} ms after it was there: past its end");
    assert!(absent >= 4_000, "absent {absent} ms after it was written: before its end");
    assert!(seen > 2_000, "last seen after {seen} ms: reading did not renew it");
}

async fn a_value_that_is_not_read_ends_when_its_sliding_time_is_up(place: Place) {
    let (ours, theirs) = (place.process().await, place.process().await);
    for lifetime in [Lifetime::sliding(secs(1)), Lifetime::sliding(secs(1)).at_most(secs(600))] {
        let clock = SystemClock::new();
        let before = clock.now();
        ours.set("k", "v", lifetime).await.unwrap();
        // A listing renews nothing.
        while !keys(&theirs, "", 10).await.is_empty() {
            sleep(millis(20)).await;
        }
        assert!(clock.now().since(before) >= secs(1), "{lifetime:?}");
        assert_eq!(ours.get("k").await.unwrap(), None);
        assert_eq!(ours.remove("k").await.unwrap(), Removed::Absent);
    }
    ours.set("k", "v", Lifetime::sliding(secs(1)).at_most(secs(600))).await.unwrap();
    while ours.try_add("k", "w", secs(60)).await.unwrap() != TryAdded::Added {
        sleep(millis(20)).await;
    }
    assert_eq!(theirs.get("k").await.unwrap().unwrap(), "w");
}

async fn a_value_lives_for_its_time_by_the_stores_clock(place: Place) {
    let cache = place.process().await;
    let (seen, absent) = lived(&cache, Lifetime::of(secs(1)), millis(20)).await;
    assert!(seen < 1_000 && absent >= 1_000, "seen after {seen} ms, absent after {absent} ms");
}

async fn no_character_of_a_prefix_has_a_meaning(place: Place) {
    let cache = place.process().await;
    let hostile = [
        "a%b", "a_b", "a*b", "a[a-z]b", "a?b", "a\\b", "a:b", "a\"b", "a'b", "a{b}", "a^b", "a漢b",
    ];
    for key in hostile {
        cache.set(key, key, secs(60)).await.unwrap();
    }
    cache.set("axb", "axb", secs(60)).await.unwrap();
    for key in hostile {
        let mut prefix = key.chars();
        prefix.next_back();
        assert_eq!(keys(&cache, prefix.as_str(), 3).await, [key], "{prefix:?}");
        assert_eq!(cache.get(key).await.unwrap().unwrap(), key);
    }
    let mut due: Vec<String> = hostile.into_iter().chain(["axb"]).map(str::to_owned).collect();
    due.sort();
    for limit in [1, 5, 100] {
        assert_eq!(keys(&cache, "a", limit).await, due, "{limit} a page");
    }
    for prefix in ["%", "*", "_", "[a", "a b", "b"] {
        assert!(keys(&cache, prefix, 5).await.is_empty(), "{prefix:?}");
    }
}

async fn a_store_that_was_wiped_is_empty_and_in_working_order(place: Place) {
    let (ours, theirs) = (place.process().await, place.process().await);
    for round in 0..3 {
        for number in 0..20 {
            let sliding = Lifetime::sliding(secs(60)).at_most(secs(600));
            ours.set(&format!("k{number}"), "v", sliding).await.unwrap();
        }
        let store = theirs.store();
        for (key, _) in store.scan("", None, 100).await.unwrap().entries {
            let swap = store.swap(&key, Expect::Any, Next::Delete).await.unwrap();
            assert!(matches!(swap, Swap::Won(_)));
        }
        assert_eq!(ours.get("k1").await.unwrap(), None, "{round}");
        assert!(keys(&ours, "", 7).await.is_empty());
        assert_eq!(ours.try_replace("k2", "w", secs(60)).await.unwrap(), TryReplaced::Absent);
        assert_eq!(ours.try_add("k3", "w", secs(60)).await.unwrap(), TryAdded::Added);
        assert_eq!(theirs.try_remove("k3", b"w").await.unwrap(), TryRemoved::Removed);
    }
}

async fn a_lifetime_that_makes_no_sense_reaches_no_store(place: Place) {
    let cache = place.process().await;
    for lifetime in [
        Lifetime::of(secs(0)),
        Lifetime::sliding(secs(0)),
        Lifetime::of(std::time::Duration::MAX),
        Lifetime::until(std::time::UNIX_EPOCH),
    ] {
        let error = cache.set("k", "v", lifetime).await.unwrap_err();
        assert!(matches!(error, CacheError::Lifetime(_)), "{error:?}");
    }
    // The longest of all is taken as it is.
    cache.set("k", "v", semel::core::Ttl::MAX.as_duration()).await.unwrap();
    assert!(cache.get("k").await.unwrap().is_some());
}

async fn a_value_over_the_limit_is_refused_and_changes_nothing(place: Place) {
    let cache = place.process().await;
    cache.set("k", "v", secs(60)).await.unwrap();
    // What stands before the value counts as well.
    let most = 4 << 20;
    for error in [
        cache.set("k", vec![7; most], secs(60)).await.unwrap_err(),
        cache.try_add("other", vec![7; most], secs(60)).await.unwrap_err(),
        cache.try_replace("k", vec![7; most], secs(60)).await.unwrap_err(),
    ] {
        assert!(matches!(error, CacheError::TooLarge(_)), "{error:?}");
    }
    assert_eq!(cache.get("k").await.unwrap().unwrap(), "v");
}

macro_rules! on {
    ($store:ident, $place:expr, [$($case:ident),+ $(,)?]) => {
        mod $store {
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$case($place).await;
                }
            )+
        }
    };
    ($($store:ident: $place:expr),+ $(,)?) => {
        $(on!($store, $place, [
            every_operation_is_seen_by_another_process,
            of_64_who_add_at_once_one_does,
            of_16_who_remove_one_value_one_does,
            a_sliding_value_that_is_read_lives_up_to_its_end_and_no_longer,
            a_value_that_is_not_read_ends_when_its_sliding_time_is_up,
            a_value_lives_for_its_time_by_the_stores_clock,
            no_character_of_a_prefix_has_a_meaning,
            a_lifetime_that_makes_no_sense_reaches_no_store,
            a_value_over_the_limit_is_refused_and_changes_nothing,
            a_store_that_was_wiped_is_empty_and_in_working_order,
        ]);)+
    };
}

on! {
    memory: Place::memory().await,
    sqlite: Place::sqlite(),
    redis: Place::redis().await,
    postgres: Place::postgres().await,
}
