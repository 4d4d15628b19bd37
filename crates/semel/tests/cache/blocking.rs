//! The blocking face.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use semel::cache::{CacheError, Lifetime, Refreshed, Removed, TryAdded, TryRemoved, TryReplaced};

use super::support::{Bench, secs};

#[tokio::test]
async fn a_thread_without_a_runtime_does_all_that_the_cache_does() {
    let bench = Bench::new();
    let cache = bench.cache.blocking();
    let numbers = cache.typed::<u32>();
    let work = move || -> Result<(), CacheError> {
        assert_eq!(cache.get("k")?, None);
        cache.set("k", "one", Lifetime::sliding(secs(9)))?;
        assert_eq!(cache.get("k")?.unwrap(), "one");
        assert_eq!(cache.try_add("k", "two", secs(9))?, TryAdded::Present("one".into()));
        assert_eq!(cache.try_replace("other", "two", secs(9))?, TryReplaced::Absent);
        assert_eq!(cache.refresh("k")?, Refreshed::Refreshed);
        assert_eq!(cache.keys("", None, 9)?.keys, ["k"].map(Arc::from));
        assert_eq!(cache.try_remove("k", b"two")?, TryRemoved::Differs);
        assert_eq!(cache.remove("k")?, Removed::Removed);
        assert_eq!(numbers.try_add("n", &1, secs(9))?, TryAdded::Added);
        assert_eq!(numbers.try_add("n", &2, secs(9))?, TryAdded::Present(1));
        numbers.set("n", &2, secs(9))?;
        assert_eq!(numbers.get("n")?, Some(2));
        assert_eq!(numbers.try_replace("other", &2, secs(9))?, TryReplaced::Absent);
        assert_eq!(numbers.try_remove("n", 2)?, TryRemoved::Removed);
        assert!(matches!(cache.get(""), Err(CacheError::Key(_))));
        Ok(())
    };
    tokio::task::spawn_blocking(work.clone()).await.unwrap().unwrap();
    let (done, wait) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || done.send(work()));
    wait.await.unwrap().unwrap();
}

#[tokio::test]
async fn inside_asynchronous_work_it_panics_before_anything_is_done() {
    let bench = Bench::new();
    let cache = bench.cache.blocking();
    let set = catch_unwind(AssertUnwindSafe(|| cache.set("k", "v", secs(9))));
    assert!(set.is_err());
    assert_eq!(bench.trips(), (0, 0));
}

#[test]
fn a_runtime_that_is_gone_is_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cache = runtime.block_on(async { Bench::new().cache.blocking() });
    drop(runtime);
    assert!(matches!(cache.get("k"), Err(CacheError::Shutdown)));
}

#[test]
#[should_panic(expected = "there is no reactor running")]
fn it_needs_a_runtime_to_work_on() {
    let _ = Bench::new().cache.blocking();
}
