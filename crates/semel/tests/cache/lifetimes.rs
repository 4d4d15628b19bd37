//! How long values are there, by the store's clock.

use std::time::{Duration, UNIX_EPOCH};

use semel::cache::{Cache, CacheError, Lifetime, LifetimeError, Refreshed, Removed, TryAdded};
use semel::timer::unix_time;

use super::support::{Bench, secs};

#[tokio::test]
async fn a_value_ends_when_its_time_is_up_and_not_before() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::of(secs(9))).await;
    bench.pass(8);
    assert!(bench.value("k").await.is_some());
    bench.clock.advance(Duration::from_micros(999_999));
    assert!(bench.value("k").await.is_some(), "reading renews nothing");
    bench.clock.advance(Duration::from_micros(1));
    assert_eq!(bench.value("k").await, None);
}

#[tokio::test]
async fn without_a_lifetime_a_value_lives_for_five_minutes() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::default()).await;
    bench.pass(299);
    assert!(bench.value("k").await.is_some());
    bench.pass(1);
    assert_eq!(bench.value("k").await, None);
    let minute = Cache::builder(bench.cache.store().clone()).default_time_to_live(secs(60));
    minute.build().unwrap().set("k", "v", Lifetime::default()).await.unwrap();
    bench.pass(60);
    assert_eq!(bench.value("k").await, None);
}

#[tokio::test]
async fn a_sliding_value_lives_as_long_as_it_is_read() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::sliding(secs(9))).await;
    for round in 0..100 {
        bench.pass(8);
        if round % 2 == 0 {
            assert!(bench.value("k").await.is_some(), "{round}");
        } else {
            let refreshed = bench.cache.refresh("k").await.unwrap();
            assert_eq!(refreshed, Refreshed::Refreshed, "{round}");
        }
    }
    bench.pass(9);
    assert_eq!(bench.value("k").await, None);
    assert_eq!(bench.cache.refresh("k").await.unwrap(), Refreshed::Absent);
    assert!(!bench.is_kept("k").await, "what nobody reads takes no room");
}

#[tokio::test]
async fn a_sliding_value_never_passes_its_end() {
    let bench = Bench::new();
    let end = UNIX_EPOCH + unix_time() + secs(31);
    for lifetime in
        [Lifetime::sliding(secs(9)).at_most(secs(30)), Lifetime::sliding(secs(9)).not_after(end)]
    {
        bench.set("k", "v", lifetime).await;
        for _ in 0..29 {
            bench.pass(1);
            assert!(bench.value("k").await.is_some());
        }
        bench.pass(2);
        assert_eq!(bench.value("k").await, None, "{lifetime:?}");
    }
}

#[tokio::test]
async fn a_sliding_value_that_nobody_read_is_absent_before_its_end() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::sliding(secs(9)).at_most(secs(99))).await;
    bench.pass(9);
    assert_eq!(bench.value("k").await, None);
    assert_eq!(bench.cache.refresh("k").await.unwrap(), Refreshed::Absent);
    assert!(bench.is_kept("k").await);
    assert_eq!(bench.cache.keys("", None, 9).await.unwrap().keys.len(), 0);
    assert_eq!(bench.cache.try_add("k", "w", secs(9)).await.unwrap(), TryAdded::Added);
    assert_eq!(bench.value("k").await.unwrap(), b"w");
}

#[tokio::test]
async fn removing_what_is_over_says_absent_and_clears_it_away() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::sliding(secs(9)).at_most(secs(99))).await;
    bench.pass(9);
    assert_eq!(bench.cache.remove("k").await.unwrap(), Removed::Absent);
    assert!(!bench.is_kept("k").await);
}

#[tokio::test]
async fn adding_does_not_renew_what_is_present() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::sliding(secs(9)).at_most(secs(99))).await;
    bench.pass(8);
    assert!(matches!(bench.cache.try_add("k", "w", secs(9)).await.unwrap(), TryAdded::Present(_)));
    bench.pass(1);
    assert_eq!(bench.value("k").await, None);
}

/// The wall clock is looked at once; from there on only the store's clock counts.
#[tokio::test]
async fn an_end_is_as_far_away_by_the_stores_clock_as_it_was_by_ours() {
    let bench = Bench::new();
    bench.cache.set("k", "v", UNIX_EPOCH + unix_time() + secs(60)).await.unwrap();
    bench.pass(59);
    assert!(bench.value("k").await.is_some());
    bench.pass(1);
    assert_eq!(bench.value("k").await, None);
}

#[tokio::test]
async fn an_end_that_has_passed_is_an_error_and_changes_nothing() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::default()).await;
    for error in [
        bench.cache.set("k", "w", UNIX_EPOCH + unix_time()).await.unwrap_err(),
        bench.cache.try_add("other", "w", UNIX_EPOCH).await.unwrap_err(),
    ] {
        assert!(matches!(error, CacheError::Lifetime(LifetimeError::Past)), "{error:?}");
        assert_eq!(error.problem(), None);
    }
    assert_eq!(bench.value("k").await.unwrap(), b"v");
    assert_eq!(bench.value("other").await, None);
}

/// Between the look and the renewal somebody puts another value there, of another lifetime.
#[tokio::test]
async fn a_value_that_is_replaced_while_it_is_read_keeps_its_own_lifetime() {
    use semel::core::{FaultAction, Gate, StoreOp};
    let sliding = |seconds| Lifetime::sliding(secs(seconds)).at_most(secs(9_000));
    for (first, second, after_nine) in [
        (90, sliding(9), 0),
        (9, sliding(90), 1),
        (1, Lifetime::of(secs(90)), 1),
        (90, Lifetime::of(secs(9)), 0),
        (90, Lifetime::sliding(secs(9)), 0),
        (1, Lifetime::sliding(secs(90)), 1),
    ] {
        let bench = Bench::new();
        bench.set("k", "one", sliding(first)).await;
        bench.clock.advance(secs(first) / 2);
        let gate = Gate::closed();
        bench.store.next(StoreOp::Read, FaultAction::HoldAfter(gate.clone()));
        let (seen, ()) = tokio::join!(bench.value("k"), async {
            gate.reached(1).await;
            bench.set("k", "two", second).await;
            gate.open();
        });
        assert_eq!(seen.unwrap(), b"two");
        bench.pass(8);
        assert!(bench.cache.keys("k", None, 1).await.unwrap().keys.len() == 1);
        bench.pass(1);
        let left = bench.cache.keys("k", None, 1).await.unwrap().keys.len();
        assert_eq!(left, after_nine, "{first:?}, then {second:?}");
    }
}

#[tokio::test]
async fn of_two_readers_at_once_both_get_the_value_and_it_is_renewed() {
    use semel::core::{FaultAction, Gate, StoreOp};
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::sliding(secs(9))).await;
    bench.pass(8);
    let gate = Gate::closed();
    bench.store.next(StoreOp::Swap, FaultAction::HoldBefore(gate.clone()));
    let (first, second) = tokio::join!(bench.value("k"), async {
        gate.reached(1).await;
        let second = bench.value("k").await;
        gate.open();
        second
    });
    assert_eq!((first.unwrap(), second.unwrap()), (b"v".to_vec(), b"v".to_vec()));
    bench.pass(8);
    assert!(bench.value("k").await.is_some());
}
