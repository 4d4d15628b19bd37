//! A server that drops a lock's key behind everybody's back.

use semel::{LockGuard, LockLoss, Locks, ReleaseOutcome};
use semel_testkit::{RedisReply, RedisServer};

use super::{process, secs};

const TTL: u64 = 6;

async fn held(locks: &Locks) -> LockGuard {
    locks.lock("r").ttl(secs(TTL)).renewed().acquire().await.unwrap()
}

/// The name under which the server has the lock.
async fn name(server: &RedisServer) -> String {
    let names = server.command(&["KEYS", "semel:{*}:lock:r"]).await.unwrap();
    let RedisReply::Many(names) = names else { panic!("{names:?}") };
    names[0].text().unwrap().to_owned()
}

/// Told by the next renewal, well before the lease would have ended, and not as its end.
async fn is_told_at_the_next_renewal(guard: &LockGuard, locks: &Locks) {
    let told = semel::timer::within(secs(TTL / 3 + 2), guard.lost()).await;
    assert_eq!(told, Some(LockLoss::StoreReset));
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::StoreReset);
    let next = held(locks).await;
    assert!(next.fence() > guard.fence());
    assert!(!next.is_lost());
}

/// redis-evicted: the key alone is gone, as an eviction or a careless hand leaves it.
#[tokio::test(flavor = "multi_thread")]
async fn redis_evicted_a_holder_whose_key_is_gone_is_told_at_its_next_renewal() {
    let server = RedisServer::start().await.unwrap();
    let locks = process(&server.url(), "ours").await;
    let guard = held(&locks).await;
    server.command(&["DEL", &name(&server).await]).await.unwrap();
    is_told_at_the_next_renewal(&guard, &locks).await;
}

/// The same by a server that does evict: it has to be accepted by name to be used at all.
#[tokio::test(flavor = "multi_thread")]
async fn redis_evicted_a_server_that_does_evict_is_told_of_the_same_way() {
    let setup = RedisServer::builder().set("maxmemory", "8mb");
    let server = setup.set("maxmemory-policy", "allkeys-random").start().await.unwrap();
    semel::open(&server.url()).await.unwrap_err();
    let accepted = format!("{}?accept=maxmemory-policy", server.url());
    let locks = process(&accepted, "ours").await;
    let guard = held(&locks).await;
    let name = name(&server).await;
    let filler = "x".repeat(32 << 10);
    let mut fillers = 0..20_000;
    while server.command(&["EXISTS", &name]).await.unwrap() == RedisReply::Number(1) {
        for number in fillers.by_ref().take(50) {
            server.command(&["SET", &format!("filler:{number}"), &filler]).await.unwrap();
        }
        assert!(!fillers.is_empty(), "the void rule: it was not evicted");
    }
    server.command(&["FLUSHDB"]).await.unwrap();
    is_told_at_the_next_renewal(&guard, &locks).await;
}
