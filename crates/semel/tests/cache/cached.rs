//! The cache as a store of crate `cached`: what its trait says of each method.

use cached::{ConcurrentCacheBase, ConcurrentCachedAsync, SerializeCachedAsync};
use semel::cache::{Cache, CacheError, CachedStore, Lifetime};

use super::support::{Bench, secs};

fn store(bench: &Bench) -> CachedStore<u32> {
    let cache = Cache::builder(bench.cache.store().clone()).namespace("numbers").build().unwrap();
    CachedStore::new(cache.typed()).lifetime(Lifetime::of(secs(9)))
}

#[tokio::test]
async fn writing_returns_what_was_there() {
    let bench = Bench::new();
    let store = store(&bench);
    assert_eq!(store.async_cache_get(&1).await.unwrap(), None);
    assert_eq!(store.async_cache_set(1, 10).await.unwrap(), None);
    assert_eq!(store.async_cache_set(1, 11).await.unwrap(), Some(10));
    assert_eq!(store.async_cache_get(&1).await.unwrap(), Some(11));
    store.async_cache_set_ref(&1, &12).await.unwrap();
    assert_eq!(store.async_cache_remove(&1).await.unwrap(), Some(12));
    assert_eq!(store.async_cache_remove(&1).await.unwrap(), None);
}

#[tokio::test]
async fn removing_returns_the_entry_or_whether_there_was_one() {
    let bench = Bench::new();
    let store = store(&bench);
    store.async_cache_set(7, 70).await.unwrap();
    assert!(store.async_cache_contains(&7).await.unwrap());
    assert_eq!(store.async_cache_remove_entry(&7).await.unwrap(), Some((7, 70)));
    assert_eq!(store.async_cache_remove_entry(&7).await.unwrap(), None);
    store.async_cache_set(7, 70).await.unwrap();
    assert!(store.async_cache_delete(&7).await.unwrap());
    assert!(!store.async_cache_delete(&7).await.unwrap());
    assert!(!store.async_cache_contains(&7).await.unwrap());
}

#[tokio::test]
async fn what_is_over_is_absent_and_never_a_former_value() {
    let bench = Bench::new();
    let store = store(&bench).lifetime(Lifetime::sliding(secs(9)).at_most(secs(99)));
    store.async_cache_set(1, 10).await.unwrap();
    bench.pass(9);
    assert_eq!(store.async_cache_get(&1).await.unwrap(), None);
    assert_eq!(store.async_cache_set(1, 11).await.unwrap(), None);
    bench.pass(9);
    assert_eq!(store.async_cache_remove(&1).await.unwrap(), None);
}

#[tokio::test]
async fn a_hit_renews_where_that_was_asked_for() {
    let bench = Bench::new();
    let fixed = store(&bench);
    let renewed = fixed.clone().lifetime(Lifetime::sliding(secs(9)));
    fixed.async_cache_set(1, 10).await.unwrap();
    renewed.async_cache_set(2, 20).await.unwrap();
    for _ in 0..3 {
        bench.pass(5);
        assert_eq!(renewed.async_cache_get(&2).await.unwrap(), Some(20));
    }
    assert_eq!(fixed.async_cache_get(&1).await.unwrap(), None);
}

#[tokio::test]
async fn clearing_takes_its_own_entries_and_no_others() {
    let bench = Bench::new();
    let store = store(&bench);
    for number in 0..450 {
        store.async_cache_set(number, number).await.unwrap();
    }
    bench.set("other", "v", Lifetime::default()).await;
    ConcurrentCachedAsync::<u32, u32>::async_cache_clear(&store).await.unwrap();
    for number in [0, 199, 200, 449] {
        assert_eq!(store.async_cache_get(&number).await.unwrap(), None, "{number}");
    }
    assert!(store.cache().cache().keys("", None, 9).await.unwrap().keys.is_empty());
    assert!(bench.value("other").await.is_some());
    store.async_cache_set(1, 1).await.unwrap();
    ConcurrentCachedAsync::<u32, u32>::async_cache_reset(&store).await.unwrap();
    assert_eq!(store.async_cache_get(&1).await.unwrap(), None);
}

#[tokio::test]
async fn a_value_is_made_on_a_miss_and_not_on_a_hit() {
    let bench = Bench::new();
    let store = store(&bench);
    let made = |value| async move { value };
    assert_eq!(store.async_cache_get_or_set_with(1, || made(10)).await.unwrap(), 10);
    assert_eq!(store.async_cache_get_or_set_with(1, || made(11)).await.unwrap(), 10);
    let failed = || async { Err("no") };
    assert_eq!(store.async_cache_try_get_or_set_with(2, failed).await.unwrap(), Err("no"));
    assert_eq!(store.async_cache_get(&2).await.unwrap(), None, "a failure is not cached");
}

/// As its own stores in databases do under `strict_deserialization`.
#[tokio::test]
async fn what_can_not_be_read_is_an_error_for_readers_and_replaced_by_writers() {
    let bench = Bench::new();
    let store = store(&bench);
    let texts = store.cache().cache().typed::<String>();
    for round in 0..2 {
        texts.set("1", &"text".to_owned(), secs(9)).await.unwrap();
        let error = store.async_cache_get(&1).await.unwrap_err();
        assert!(matches!(error, CacheError::OtherType(_)), "{error:?}");
        if round == 0 {
            assert_eq!(store.async_cache_set(1, 10).await.unwrap(), None);
            assert_eq!(store.async_cache_get(&1).await.unwrap(), Some(10));
        } else {
            assert!(store.async_cache_remove(&1).await.is_err());
            assert_eq!(store.async_cache_get(&1).await.unwrap(), None, "removed all the same");
        }
    }
}

#[tokio::test]
async fn a_lost_reply_is_settled_by_a_look() {
    let bench = Bench::new();
    let store = store(&bench);
    store.async_cache_set(1, 10).await.unwrap();
    bench.lose_reply();
    assert_eq!(store.async_cache_set(1, 11).await.unwrap(), Some(10));
    bench.lose_reply();
    assert_eq!(store.async_cache_remove(&1).await.unwrap(), Some(11));
    bench.lose_request();
    let error = store.async_cache_set(1, 12).await.unwrap_err();
    assert!(matches!(error, CacheError::Indeterminate(_)), "{error:?}");
}

/// Written for any store of that crate.
async fn doubled<S>(store: &S, number: u32) -> Result<u32, S::Error>
where
    S: ConcurrentCachedAsync<String, u32> + ConcurrentCacheBase + Sync,
{
    store.async_cache_get_or_set_with(format!("n:{number}"), || async { number * 2 }).await
}

#[tokio::test]
async fn functions_that_take_any_store_take_this_one() {
    let bench = Bench::new();
    let store = store(&bench);
    assert_eq!(doubled(&store, 4).await.unwrap(), 8);
    assert_eq!(store.cache().get("n:4").await.unwrap(), Some(8));
    assert_eq!(store.cache_size().unwrap(), None);
    let error = store.async_cache_get(&"white space".to_owned()).await.unwrap_err();
    assert!(matches!(error, CacheError::Key(_)), "{error:?}");
}
