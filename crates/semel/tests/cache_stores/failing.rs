//! A cache whose server was wiped, or stands still.

use semel::Cache;
use semel::cache::{CacheError, Lifetime, Removed, TryAdded, TryRemoved, TryReplaced};
use semel_testkit::RedisServer;

use super::secs;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_a_wiped_redis_are_absent_and_new_ones_are_taken() {
    let server = RedisServer::start().await.unwrap();
    let cache = Cache::new(semel::open(&server.url()).await.unwrap());
    for round in 0..3 {
        cache.set("k", "v", Lifetime::sliding(secs(60)).at_most(secs(600))).await.unwrap();
        server.command(&["FLUSHALL"]).await.unwrap();
        assert_eq!(cache.get("k").await.unwrap(), None, "{round}");
        assert_eq!(cache.remove("k").await.unwrap(), Removed::Absent);
        assert_eq!(cache.try_remove("k", b"v").await.unwrap(), TryRemoved::Absent);
        assert_eq!(cache.try_replace("k", "v", secs(60)).await.unwrap(), TryReplaced::Absent);
        assert_eq!(cache.try_add("k", "w", secs(60)).await.unwrap(), TryAdded::Added);
        assert_eq!(cache.get("k").await.unwrap().unwrap(), "w");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_was_restarted_empty_has_no_values() {
    let mut server = RedisServer::start().await.unwrap();
    let cache = Cache::new(semel::open(&server.url()).await.unwrap());
    cache.set("k", "v", secs(60)).await.unwrap();
    server.restart_empty().await.unwrap();
    // The first calls may find connections that are dead: that is an error, never "absent".
    let got = loop {
        match cache.get("k").await {
            Ok(got) => break got,
            Err(CacheError::Unavailable(_)) => {
                semel::timer::sleep(super::millis(20)).await;
            }
            Err(error) => panic!("{error:?}"),
        }
    };
    assert_eq!(got, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_stands_still_is_an_error_and_its_values_are_there_afterwards() {
    let mut server = RedisServer::start().await.unwrap();
    let cache = Cache::new(semel::open(&server.url()).await.unwrap());
    cache.set("k", "v", secs(600)).await.unwrap();
    server.pause().unwrap();
    let (got, added) = tokio::join!(cache.get("k"), cache.try_add("other", "v", secs(600)));
    assert!(matches!(got, Err(CacheError::Unavailable(_))), "{got:?}");
    // It may have reached the server, and be done when that goes on.
    assert!(matches!(added, Err(CacheError::Indeterminate(_))), "{added:?}");
    server.resume().unwrap();
    let got = loop {
        if let Ok(got) = cache.get("k").await {
            break got;
        }
        semel::timer::sleep(super::millis(20)).await;
    };
    assert_eq!(got.unwrap(), "v");
}
