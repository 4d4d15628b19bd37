//! A holder learns that its lock is lost before the store could grant it to anybody else: by its
//! own clock alone.

use semel::{AcquiredWithin, LockGuard, LockLoss, Locks};
use semel_testkit::{Direction, FaultProxy, PostgresServer, RedisServer};

use super::{process, secs};

const TTL: u64 = 3;

async fn held(locks: &Locks) -> LockGuard {
    locks.lock("r").ttl(secs(TTL)).renewed().acquire().await.unwrap()
}

/// Waits for the lock over a way that works, and says whether its last holder knew by then.
async fn next_knows(theirs: &Locks, guard: &LockGuard) {
    let next = theirs.acquire_within("r", secs(TTL), secs(60)).await.unwrap();
    let AcquiredWithin::Acquired(next) = next else { panic!("{next:?}") };
    assert_eq!(guard.loss(), Some(LockLoss::Expired), "two hold it");
    assert!(next.fence() > guard.fence());
}

/// ETR-2, RR-4, CO-1: the server stands still, goes on, and is asked by somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn etr2_rr4_over_a_server_that_stands_still() {
    let mut server = RedisServer::start().await.unwrap();
    let (ours, theirs) =
        (process(&server.url(), "ours").await, process(&server.url(), "theirs").await);
    let guard = held(&ours).await;
    server.pause().unwrap();
    assert_eq!(guard.lost().await, LockLoss::Expired);
    server.resume().unwrap();
    next_knows(&theirs, &guard).await;
}

/// CO-1, ET-2: the holder is cut off, and nobody else is.
#[tokio::test(flavor = "multi_thread")]
async fn co1_et2_over_a_redis_server_that_the_holder_is_cut_off_from() {
    let server = RedisServer::start().await.unwrap();
    let proxy = FaultProxy::start(server.address()).await.unwrap();
    let ours = process(&server.url_at(proxy.address()), "ours").await;
    let theirs = process(&server.url(), "theirs").await;
    let guard = held(&ours).await;
    for direction in [Direction::ToServer, Direction::ToClient] {
        proxy.drop_bytes(direction, true);
    }
    next_knows(&theirs, &guard).await;
}

/// DL-1: connections die without a word.
#[tokio::test(flavor = "multi_thread")]
async fn dl1_over_a_postgres_server_that_the_holder_is_cut_off_from() {
    let server = PostgresServer::launch().await.unwrap();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], server.port()));
    let proxy = FaultProxy::start(address).await.unwrap();
    let through = server.url().replace(&address.to_string(), &proxy.address().to_string());
    let ours = process(&through, "ours").await;
    let theirs = process(&server.url(), "theirs").await;
    let guard = held(&ours).await;
    for direction in [Direction::ToServer, Direction::ToClient] {
        proxy.drop_bytes(direction, true);
    }
    next_knows(&theirs, &guard).await;
}

/// HZ-2: the server comes back without its data.
#[tokio::test(flavor = "multi_thread")]
async fn hz2_over_a_server_that_was_restarted_empty_the_loss_is_a_reset() {
    let mut server = RedisServer::start().await.unwrap();
    let ours = process(&server.url(), "ours").await;
    let guard = held(&ours).await;
    server.restart_empty().await.unwrap();
    let loss = guard.lost().await;
    // The reset is seen by the renewal; if the way to the server took too long, the clock was first.
    assert!(matches!(loss, LockLoss::StoreReset | LockLoss::Expired), "{loss:?}");
    let next = ours.lock("r").ttl(secs(TTL)).wait(secs(30)).acquire().await.unwrap();
    assert!(next.fence() > guard.fence());
}
