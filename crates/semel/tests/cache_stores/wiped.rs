//! A cache whose store was wiped: empty, and in working order.

use semel::Cache;
use semel::cache::{Lifetime, Removed, TryAdded, TryRemoved, TryReplaced};
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
            Err(semel::cache::CacheError::Unavailable(_)) => {
                semel::timer::sleep(super::millis(20)).await;
            }
            Err(error) => panic!("{error:?}"),
        }
    };
    assert_eq!(got, None);
}
