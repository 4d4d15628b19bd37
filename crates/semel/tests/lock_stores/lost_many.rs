//! Many locks of one process meet the same fault: each holder knows that its lock is lost before
//! the next one has it. Ten at a time; a hundred in the long tier of `cargo xtask proof`.

use std::net::SocketAddr;

use futures_util::future::join_all;
use semel::{AcquiredWithin, ForceHow, ForceTarget, LockGuard, LockLoss, Locks, Owner, Reason};
use semel_testkit::{Direction, FaultProxy, PostgresServer, RedisServer};

use super::tier::Tier;
use super::{process, secs};

const TTL: u64 = 3;

fn count() -> usize {
    Tier::now().pick(10, 10, 100)
}

fn name(number: usize) -> String {
    format!("lock:{number}")
}

async fn hold_all(locks: &Locks) -> Vec<LockGuard> {
    let hold = |number| {
        let lock = locks.lock(&name(number)).ttl(secs(TTL)).renewed();
        async move { lock.acquire().await.unwrap() }
    };
    join_all((0..count()).map(hold)).await
}

/// Waits for each lock over a way that works, and asks its last holder what it knows by then.
async fn all_know(theirs: &Locks, guards: &[LockGuard], is_told: impl Fn(&LockLoss) -> bool) {
    let next_knows = async |(number, guard): (usize, &LockGuard)| {
        let next = theirs.acquire_within(&name(number), secs(TTL), secs(60)).await.unwrap();
        let AcquiredWithin::Acquired(next) = next else { panic!("{next:?}") };
        let loss = guard.loss();
        assert!(
            loss.as_ref().is_some_and(&is_told),
            "of lock {number} two know it theirs: {loss:?}"
        );
        assert!(next.fence() > guard.fence());
    };
    join_all(guards.iter().enumerate().map(next_knows)).await;
}

fn is_expired(loss: &LockLoss) -> bool {
    *loss == LockLoss::Expired
}

/// CO-1, ETR-2, RR-4: a Redis server that stands still for longer than the lease.
#[tokio::test(flavor = "multi_thread")]
async fn proof_co1_etr2_a_server_that_stands_still() {
    let mut server = RedisServer::start().await.unwrap();
    let ours = process(&server.url(), "ours").await;
    let theirs = process(&server.url(), "theirs").await;
    let guards = hold_all(&ours).await;
    server.pause().unwrap();
    join_all(guards.iter().map(LockGuard::lost)).await;
    server.resume().unwrap();
    all_know(&theirs, &guards, is_expired).await;
}

async fn cut_off(address: SocketAddr, url: &str) {
    let proxy = FaultProxy::start(address).await.unwrap();
    let through = url.replace(&address.to_string(), &proxy.address().to_string());
    assert_ne!(through, url);
    let (ours, theirs) = (process(&through, "ours").await, process(url, "theirs").await);
    let guards = hold_all(&ours).await;
    for direction in [Direction::ToServer, Direction::ToClient] {
        proxy.drop_bytes(direction, true);
    }
    all_know(&theirs, &guards, is_expired).await;
}

/// CO-1, ET-2: only the holder is cut off.
#[tokio::test(flavor = "multi_thread")]
async fn proof_co1_et2_a_holder_that_is_cut_off_from_redis() {
    let server = RedisServer::start().await.unwrap();
    cut_off(server.address(), &server.url()).await;
}

/// DL-1: the same with PostgreSQL.
#[tokio::test(flavor = "multi_thread")]
async fn proof_dl1_a_holder_that_is_cut_off_from_postgres() {
    let server = PostgresServer::launch().await.unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
    cut_off(address, &server.url()).await;
}

/// HZ-6: a server that is killed, and comes back with its data after the leases have ended.
#[tokio::test(flavor = "multi_thread")]
async fn proof_hz6_a_server_that_is_killed_and_comes_back_with_its_data() {
    let server = RedisServer::builder().append_only(semel_testkit::AppendFsync::BySystem);
    let mut server = server.start().await.unwrap();
    let ours = process(&server.url(), "ours").await;
    let guards = hold_all(&ours).await;
    server.kill();
    join_all(guards.iter().map(LockGuard::lost)).await;
    server.restart().await.unwrap();
    let theirs = process(&server.url(), "theirs").await;
    all_know(&theirs, &guards, is_expired).await;
}

/// A force release takes the lock from a holder that knows it by then.
#[tokio::test(flavor = "multi_thread")]
async fn proof_hz7_locks_that_are_released_by_force() {
    let server = RedisServer::start().await.unwrap();
    let ours = process(&server.url(), "ours").await;
    let theirs = process(&server.url(), "theirs").await;
    let guards = hold_all(&ours).await;
    let (by, reason) = (Owner::new("operator"), Reason::new("it hangs"));
    for number in 0..guards.len() {
        let (target, how) = (ForceTarget::Everybody, ForceHow::Revoke);
        theirs.force_release(&name(number), target, how, (&by, &reason)).await.unwrap();
    }
    let is_told =
        |loss: &LockLoss| matches!(loss, LockLoss::ForceReleased { .. } | LockLoss::Expired);
    all_know(&theirs, &guards, is_told).await;
}

/// An entry that somebody deletes by hand is free at once, and no clock can know that. The holder
/// learns it within its lease; the fence keeps what it writes in between apart.
#[tokio::test(flavor = "multi_thread")]
async fn proof_rd2_a_deleted_key_is_known_within_the_lease_and_the_fence_rises() {
    let server = RedisServer::start().await.unwrap();
    let ours = process(&server.url(), "ours").await;
    let guards = hold_all(&ours).await;
    server.command(&["FLUSHDB"]).await.unwrap();
    let losses = join_all(guards.iter().map(LockGuard::lost)).await;
    let is_told = |loss: &LockLoss| matches!(loss, LockLoss::StoreReset | LockLoss::Expired);
    assert!(losses.iter().all(is_told), "{losses:?}");
    let theirs = process(&server.url(), "theirs").await;
    all_know(&theirs, &guards, is_told).await;
}
