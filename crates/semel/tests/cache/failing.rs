//! Stores that fail, lose replies and show damage.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel::cache::{CacheError, Lifetime, Removed, TryAdded, TryRemoved, TryReplaced};
use semel::core::{Fault, FaultAction, Key, Refusal, StoreErrorKind, StoreOp};
use semel::timer::SystemClock;
use semel::{Cache, Code, Locks, MemoryStore};

use super::support::{Bench, is_damaged, secs};

/// A store that can't be reached is never an absent value.
#[tokio::test]
async fn what_can_not_be_known_is_an_error_and_never_absence() {
    for kind in [StoreErrorKind::NotApplied, StoreErrorKind::Unknown] {
        let bench = Bench::new();
        bench.set("k", "v", Lifetime::default()).await;
        bench.fail(StoreOp::Read, kind);
        let error = bench.cache.get("k").await.unwrap_err();
        assert!(matches!(error, CacheError::Unavailable(_)), "{error:?}");
        bench.fail(StoreOp::Scan, kind);
        let error = bench.cache.keys("", None, 9).await.unwrap_err();
        assert!(matches!(error, CacheError::Unavailable(_)), "{error:?}");
        assert_eq!(error.problem().unwrap().code(), Code::StoreUnavailable);
    }
}

/// A look that fails before anything was written is no doubt about a write.
#[tokio::test]
async fn a_write_that_never_began_is_not_in_doubt() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::default()).await;
    let cache = &bench.cache;
    let fail = || bench.fail(StoreOp::Read, StoreErrorKind::Unknown);
    fail();
    assert!(matches!(cache.remove("k").await, Err(CacheError::Unavailable(_))));
    fail();
    assert!(matches!(cache.try_remove("k", b"v").await, Err(CacheError::Unavailable(_))));
    fail();
    let replaced = cache.try_replace("k", "w", secs(9)).await;
    assert!(matches!(replaced, Err(CacheError::Unavailable(_))));
    for kind in [StoreErrorKind::NotApplied, StoreErrorKind::Refused(Refusal::Credentials)] {
        bench.fail(StoreOp::Swap, kind);
        let error = cache.set("k", "w", secs(9)).await.unwrap_err();
        assert!(matches!(error, CacheError::Unavailable(_) | CacheError::Refused(_)), "{error:?}");
    }
    assert_eq!(bench.value("k").await.unwrap(), b"v");
}

#[tokio::test]
async fn a_renewal_that_fails_is_an_error_for_the_lifetime_would_be_a_lie() {
    for lifetime in [Lifetime::sliding(secs(9)), Lifetime::sliding(secs(9)).at_most(secs(99))] {
        let bench = Bench::new();
        bench.set("k", "v", lifetime).await;
        bench.pass(1);
        bench.store.next(StoreOp::Read, FaultAction::Pass);
        bench.fail(StoreOp::Read, StoreErrorKind::NotApplied);
        bench.fail(StoreOp::Swap, StoreErrorKind::NotApplied);
        assert!(matches!(bench.cache.get("k").await, Err(CacheError::Unavailable(_))));
    }
}

#[tokio::test]
async fn a_set_whose_reply_was_lost_is_settled_by_a_look() {
    let bench = Bench::new();
    bench.lose_reply();
    bench.set("k", "ours", Lifetime::default()).await;
    // Lost on its way: what is there is not ours, and ours may come yet.
    bench.lose_request();
    let error = bench.cache.set("k", "ours again", secs(9)).await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
    assert_eq!(bench.value("k").await.unwrap(), b"ours");
    // The same bytes are not the same write.
    bench.lose_request();
    assert!(bench.cache.set("k", "ours", secs(9)).await.is_err());
    // Nor is it known when the look fails too.
    bench.lose_reply();
    bench.fail(StoreOp::Read, StoreErrorKind::NotApplied);
    let error = bench.cache.set("k", "ours", secs(9)).await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
    assert_eq!(error.problem().unwrap().code(), Code::StoreUnavailable);
}

#[tokio::test]
async fn an_add_whose_reply_was_lost_knows_its_own_value() {
    let bench = Bench::new();
    bench.lose_reply();
    assert_eq!(bench.cache.try_add("k", "v", secs(9)).await.unwrap(), TryAdded::Added);
    assert_eq!(bench.trips(), (1, 1));
    // Not applied: it is tried again.
    bench.lose_request();
    assert_eq!(bench.cache.try_add("k2", "v", secs(9)).await.unwrap(), TryAdded::Added);
    // Another's value of the same bytes is another's.
    bench.lose_request();
    let present = TryAdded::Present("v".into());
    assert_eq!(bench.cache.try_add("k", "v", secs(9)).await.unwrap(), present);
    // Not known: an error, never "present".
    bench.lose_reply();
    bench.fail(StoreOp::Read, StoreErrorKind::NotApplied);
    let error = bench.cache.try_add("k3", "v", secs(9)).await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
    // Lost, and then refused: what was lost may be applied all the same.
    bench.lose_request();
    bench.fail(StoreOp::Swap, StoreErrorKind::Refused(Refusal::Full));
    let error = bench.cache.try_add("k4", "v", secs(9)).await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
}

#[tokio::test]
async fn a_replacement_whose_reply_was_lost_is_settled_by_a_look() {
    let bench = Bench::new();
    bench.set("k", "one", Lifetime::default()).await;
    bench.lose_reply();
    let replaced = bench.cache.try_replace("k", "two", secs(9)).await.unwrap();
    assert_eq!(replaced, TryReplaced::Replaced);
    bench.lose_request();
    let error = bench.cache.try_replace("k", "three", secs(9)).await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
    assert_eq!(bench.value("k").await.unwrap(), b"two");
}

#[tokio::test]
async fn a_removal_whose_reply_was_lost_says_that_it_is_gone() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::default()).await;
    bench.lose_reply();
    assert_eq!(bench.cache.remove("k").await.unwrap(), Removed::Removed);
    bench.set("k", "v", Lifetime::default()).await;
    bench.lose_request();
    assert_eq!(bench.cache.remove("k").await.unwrap(), Removed::Removed);
    assert_eq!(bench.value("k").await, None);
    bench.set("k", "v", Lifetime::default()).await;
    bench.lose_reply();
    bench.store.next(StoreOp::Read, FaultAction::Pass);
    bench.fail(StoreOp::Read, StoreErrorKind::NotApplied);
    let error = bench.cache.remove("k").await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
}

/// Who removes a certain value may build on having been the one: gone alone does not say so.
#[tokio::test]
async fn who_removed_a_certain_value_is_known_or_an_error() {
    let bench = Bench::new();
    bench.set("k", "v", Lifetime::default()).await;
    bench.lose_reply();
    let error = bench.cache.try_remove("k", b"v").await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
    assert_eq!(bench.value("k").await, None);
    // Still there: the request was lost, and the next one is known to have removed it.
    bench.set("k", "v", Lifetime::default()).await;
    bench.lose_request();
    assert_eq!(bench.cache.try_remove("k", b"v").await.unwrap(), TryRemoved::Removed);
    // Replaced meanwhile, by equal bytes: whether ours was removed by us is not known.
    bench.set("k", "v", Lifetime::default()).await;
    bench.store.next(StoreOp::Read, FaultAction::Pass);
    let gate = semel::core::Gate::closed();
    bench.store.next(StoreOp::Read, FaultAction::HoldBefore(gate.clone()));
    bench.lose_reply();
    let (removed, ()) = tokio::join!(bench.cache.try_remove("k", b"v"), async {
        gate.reached(1).await;
        bench.set("k", "v", Lifetime::default()).await;
        gate.open();
    });
    assert!(matches!(removed, Err(CacheError::Indeterminate(_))), "{removed:?}");
    assert_eq!(bench.value("k").await.unwrap(), b"v");
}

/// Adds its own value, or finds out that it did not.
async fn mine(cache: &Cache, own: &'static str) -> bool {
    match cache.try_add("k", own, secs(600)).await {
        Ok(added) => added == TryAdded::Added,
        // It may be there: then it is removed before anybody builds on it.
        Err(CacheError::Indeterminate(_)) => {
            while cache.try_remove("k", own.as_bytes()).await.is_err() {}
            false
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Of all who add, one has added until its value is removed, whichever replies are lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_never_have_added_whatever_replies_are_lost() {
    let memory = MemoryStore::new(SystemClock::new());
    let store = Fault::with_plan(memory, |call| match (call.op, call.nth % 13) {
        (StoreOp::Swap, 0 | 5) => FaultAction::FailAfter(StoreErrorKind::Unknown),
        (StoreOp::Swap, 7) => FaultAction::FailBefore(StoreErrorKind::Unknown),
        (StoreOp::Read, 9) => FaultAction::FailBefore(StoreErrorKind::NotApplied),
        _ => FaultAction::Pass,
    });
    let cache = Cache::new(Arc::new(store));
    let (inside, times) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let tasks = ["a", "b", "c", "d", "e", "f"].map(|own| {
        let (cache, inside, times) = (cache.clone(), Arc::clone(&inside), Arc::clone(&times));
        tokio::spawn(async move {
            for _ in 0..300 {
                if !mine(&cache, own).await {
                    tokio::task::yield_now().await;
                    continue;
                }
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have added");
                tokio::task::yield_now().await;
                assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                times.fetch_add(1, Ordering::SeqCst);
                // Until it is gone; who else could have removed it?
                while cache.try_remove("k", own.as_bytes()).await.is_err() {}
            }
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
    assert!(times.load(Ordering::SeqCst) > 50, "{times:?}");
}

#[tokio::test]
async fn an_entry_that_can_not_be_read_is_there() {
    let bench = Bench::new();
    bench.damage("k").await;
    assert!(is_damaged(&bench.cache.get("k").await));
    assert!(is_damaged(&bench.cache.refresh("k").await));
    assert!(is_damaged(&bench.cache.try_add("k", "v", secs(9)).await));
    assert!(is_damaged(&bench.cache.try_replace("k", "v", secs(9)).await));
    assert!(is_damaged(&bench.cache.try_remove("k", b"?").await));
    assert_eq!(bench.cache.keys("", None, 9).await.unwrap().keys, ["k"].map(Arc::from));
    // What puts an end to it says so by its name.
    assert_eq!(bench.cache.remove("k").await.unwrap(), Removed::Removed);
    bench.damage("k").await;
    bench.set("k", "v", Lifetime::default()).await;
    assert_eq!(bench.value("k").await.unwrap(), b"v");
}

#[tokio::test]
async fn a_reply_for_another_key_is_never_a_value() {
    let bench = Bench::new();
    for key in ["ours", "theirs"] {
        bench.cache.set(key, key, secs(9)).await.unwrap();
    }
    let theirs = Key::cache(None, "theirs").unwrap();
    bench.store.next(StoreOp::Read, FaultAction::Crossed(theirs));
    assert!(is_damaged(&bench.cache.get("ours").await));
    bench.store.next(StoreOp::Read, FaultAction::Corrupt { at: 60 });
    assert!(is_damaged(&bench.cache.get("ours").await));
}

#[tokio::test]
async fn locks_and_values_of_one_name_share_a_store_and_nothing_else() {
    let bench = Bench::new();
    let locks = Locks::new(bench.cache.store().clone());
    let guard = locks.lock("k").acquire().await.unwrap();
    assert_eq!(bench.value("k").await, None);
    bench.set("k", "v", Lifetime::default()).await;
    assert!(guard.release().await.unwrap().released());
    assert_eq!(bench.value("k").await.unwrap(), b"v");
}

#[tokio::test]
async fn nothing_that_is_shown_holds_a_key_or_a_value() {
    let bench = Bench::new();
    bench.damage("SECRET-KEY").await;
    let error = bench.cache.get("SECRET-KEY").await.unwrap_err();
    let blank = bench.cache.get("SECRET KEY").await.unwrap_err();
    let typed = bench.cache.typed::<u8>();
    bench.set("SECRET-K", "SECRET-VALUE", Lifetime::default()).await;
    let other = typed.get("SECRET-K").await.unwrap_err();
    let shown = format!("{error:?} {error} {blank:?} {blank} {other:?} {other} {typed:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
}
