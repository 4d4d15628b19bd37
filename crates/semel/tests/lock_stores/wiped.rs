//! Fences over a wiped Redis.

use semel::TryAcquired;
use semel_testkit::RedisServer;

use super::{process, secs};

/// 3.10, RD-10: INCR would begin at 1 again.
#[tokio::test(flavor = "multi_thread")]
async fn fences_rise_over_a_redis_that_is_wiped_again_and_again() {
    let server = RedisServer::start().await.unwrap();
    let locks = process(&server.url(), "ours").await;
    let mut last = semel::Fence::new(0);
    for number in 0..1_000 {
        let tried = locks.try_acquire("r", secs(30)).await.unwrap();
        let TryAcquired::Acquired(guard) = tried else { panic!("{number}: {tried:?}") };
        assert!(guard.fence() > last, "{number}");
        last = guard.fence();
        if number % 20 == 0 {
            server.command(&["FLUSHALL"]).await.unwrap();
            // It is gone; what it says of itself is its own business.
            let _ = guard.release().await;
        } else {
            assert!(guard.release().await.unwrap().released(), "{number}");
        }
    }
}
