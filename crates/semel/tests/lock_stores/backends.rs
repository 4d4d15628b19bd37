//! PostgreSQL whose connections die under locks: killed by an administrator, or forgotten by what
//! stands between.

use std::net::SocketAddr;

use futures_util::future::join_all;
use semel::{AcquiredWithin, LockError, LockGuard, Locks, ReleaseOutcome, TryAcquired};
use semel_testkit::{Cut, Direction, FaultProxy, PostgresServer, RedisServer};

use super::{millis, process, secs};

const TTL: u64 = 3;

const TERMINATE_ALL: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                             WHERE application_name = 'semel'";
const PIDS: &str =
    "SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE application_name = 'semel'";

async fn hold(locks: &Locks, count: usize) -> Vec<LockGuard> {
    let hold = |number| {
        let lock = locks.lock(&format!("lock:{number}")).ttl(secs(TTL)).renewed();
        async move { lock.acquire().await.unwrap() }
    };
    join_all((0..count).map(hold)).await
}

async fn terminate(server: &PostgresServer) -> u64 {
    server.sql(TERMINATE_ALL).await.unwrap().parse().unwrap()
}

/// All backends end, and the client could have noticed.
async fn terminate_and_settle(server: &PostgresServer) {
    let ours = server.sql(PIDS).await.unwrap();
    assert_ne!(ours, "", "there was nothing to kill, and this shows nothing");
    terminate(server).await;
    let left = format!("SELECT count(*) FROM pg_stat_activity WHERE pid IN ({ours})");
    semel_testkit::eventually(secs(20), "their end", || async {
        (server.sql(&left).await.ok()? == "0").then_some(())
    })
    .await
    .unwrap();
    semel::timer::sleep(millis(50)).await;
}

/// Released, whatever it takes: a reply that was lost is asked for again.
async fn released(guard: &LockGuard) -> ReleaseOutcome {
    let release = async || match guard.release().await {
        Ok(outcome) => Some(outcome),
        Err(LockError::Unavailable(_) | LockError::Indeterminate(_)) => None,
        Err(error) => panic!("{error:?}"),
    };
    semel_testkit::eventually(secs(20), "an answer to a release", release).await.unwrap()
}

/// RR-10, DL-3: backends are killed all the time, for three leases. Renewals go on by fresh
/// connections: nothing is said to be lost that is not, and each release says what is true.
#[tokio::test(flavor = "multi_thread")]
async fn rr10_dl3_killed_backends_cost_no_lock_and_releases_say_the_truth() {
    let server = PostgresServer::launch().await.unwrap();
    let ours = process(&server.url(), "ours").await;
    let guards = hold(&ours, 20).await;
    let mut killed = 0;
    for _ in 0..(3 * TTL * 2) {
        killed += terminate(&server).await;
        semel::timer::sleep(millis(500)).await;
    }
    assert!(killed >= 10, "the void rule: only {killed} backends were killed");
    let theirs = process(&server.url(), "theirs").await;
    for guard in &guards {
        let tried = theirs.try_acquire(guard.resource(), secs(TTL)).await.unwrap();
        let TryAcquired::Held(by) = tried else { panic!("two hold {}", guard.resource()) };
        assert_eq!((guard.loss(), by.owner()), (None, Some("ours")));
    }
    let killing = async {
        for _ in 0..10 {
            terminate(&server).await;
        }
    };
    let (outcomes, ()) = tokio::join!(join_all(guards.iter().map(released)), killing);
    assert!(outcomes.iter().all(|outcome| *outcome == ReleaseOutcome::Released), "{outcomes:?}");
    for guard in &guards {
        let tried = theirs.acquire_within(guard.resource(), secs(TTL), secs(20)).await.unwrap();
        let AcquiredWithin::Acquired(next) = tried else { panic!("it was not released") };
        assert!(next.fence() > guard.fence());
    }
}

/// DL-3: connections that were killed while they lay in the pool spoil nothing that comes later.
#[tokio::test(flavor = "multi_thread")]
async fn dl3_a_broken_pooled_connection_does_not_poison_later_acquires() {
    let server = PostgresServer::launch().await.unwrap();
    let locks = process(&server.url(), "ours").await;
    let first = hold(&locks, 8).await;
    for round in 0..5 {
        terminate_and_settle(&server).await;
        let tried = locks.try_acquire(&format!("round:{round}"), secs(30)).await.unwrap();
        let TryAcquired::Acquired(guard) = tried else { panic!("{round}: {tried:?}") };
        terminate_and_settle(&server).await;
        assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Released, "{round}");
    }
    assert!(first.iter().all(|guard| !guard.is_lost()));
}

/// RR-10: a lock that is gone when its backends are killed is told as gone, not as fine.
#[tokio::test(flavor = "multi_thread")]
async fn rr10_a_lock_that_was_taken_away_meanwhile_is_told_by_loss_and_release() {
    let server = PostgresServer::launch().await.unwrap();
    let ours = process(&server.url(), "ours").await;
    let guards = hold(&ours, 5).await;
    terminate(&server).await;
    server.sql("DELETE FROM semel.semel_entry").await.unwrap();
    terminate(&server).await;
    for guard in &guards {
        let loss = guard.lost().await;
        let is_told = matches!(loss, semel::LockLoss::StoreReset | semel::LockLoss::Expired);
        assert!(is_told, "{loss:?}");
        let outcome = released(guard).await;
        let is_told = matches!(outcome, ReleaseOutcome::StoreReset | ReleaseOutcome::Expired);
        assert!(is_told, "{outcome:?}");
    }
}

/// Something between forgets connections that were quiet for half a second, in one way or another.
/// Renewals come less often than that: each finds its connection dead.
async fn forgets_idle_connections(server: SocketAddr, url: &str, cut: Cut) {
    let proxy = FaultProxy::start(server).await.unwrap();
    let through = url.replace(&server.to_string(), &proxy.address().to_string());
    let (ours, theirs) = (process(&through, "ours").await, process(url, "theirs").await);
    let name = format!("{cut:?}");
    let guard = ours.lock(&name).ttl(secs(6)).renewed().acquire().await.unwrap();
    let before = proxy.accepted();
    let mut passed = 0;
    for _ in 0..36 {
        semel::timer::sleep(millis(500)).await;
        let now = proxy.passed(Direction::ToServer);
        if now == passed {
            proxy.sever(cut);
        }
        passed = now;
        assert_eq!(guard.loss(), None, "{cut:?} on the way to {url}");
    }
    assert!(proxy.accepted() > before + 3, "the void rule: {cut:?} cut nothing");
    let tried = theirs.try_acquire(&name, secs(6)).await.unwrap();
    assert!(matches!(tried, TryAcquired::Held(_)), "{cut:?}: {tried:?}");
    assert_eq!(released(&guard).await, ReleaseOutcome::Released, "{cut:?}");
}

/// DL-9, over both kinds of servers and three ways to forget.
#[tokio::test(flavor = "multi_thread")]
async fn dl9_idle_connections_that_are_reaped_cost_no_lock() {
    let redis = RedisServer::start().await.unwrap();
    let postgres = PostgresServer::launch().await.unwrap();
    let places = [
        (redis.address(), redis.url()),
        (SocketAddr::from(([127, 0, 0, 1], postgres.port())), postgres.url()),
    ];
    let cuts = [Cut::Close, Cut::Reset, Cut::Silence];
    let each = places
        .iter()
        .flat_map(|(address, url)| cuts.map(|cut| forgets_idle_connections(*address, url, cut)));
    join_all(each).await;
}
