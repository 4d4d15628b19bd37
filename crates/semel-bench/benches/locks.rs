//! Locks: what acquiring and releasing costs on one connection against the two raw commands of a
//! lock on Redis, and how long a released lock takes to reach the next of eight who wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Script;
use redis::aio::MultiplexedConnection;
use semel::{AcquiredWithin, Locks, Store, TryAcquired};
use semel_bench::{Figure, median, tell};
use semel_testkit::{PostgresServer, RedisServer};
use tokio::runtime::Builder;
use tokio::sync::mpsc;

const PAIRS: u32 = 2_000;
const WAITERS: usize = 8;
const HAND_OFFS: usize = 400;
const TTL: Duration = Duration::from_secs(10);

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let server = RedisServer::start().await.expect("a server");
    let client = redis::Client::open(server.url()).expect("a URL");
    let raw = client.get_multiplexed_async_connection().await.expect("a connection");
    let redis = semel::open(&server.url()).await.expect("a store");
    let locks = Locks::new(Arc::clone(&redis));
    let mut ratios = Vec::new();
    for _ in 0..9 {
        let floor = raw_pairs(raw.clone()).await;
        ratios.push(floor.as_secs_f64() / pairs(&locks).await.as_secs_f64());
    }
    let figure = Figure::Ratio { got: median(&ratios), at_least: 0.85 };
    tell("redis: acquire + release / two raw commands", figure);
    hand_offs("redis", &redis).await;
    let server = PostgresServer::builder().on_disk().start().await.expect("a server");
    hand_offs("postgres", &semel::open(&server.url()).await.expect("a store")).await;
}

/// As a lock without a fence does it: set if absent, and delete if it is still ours.
async fn raw_pairs(mut connection: MultiplexedConnection) -> Duration {
    let release = Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end \
         return 0",
    );
    let started = now();
    for number in 0..PAIRS {
        let mut acquire = redis::cmd("SET");
        acquire.arg("raw").arg(number).arg("NX").arg("PX").arg(10_000);
        acquire.exec_async(&mut connection).await.expect("acquired");
        let released: u32 =
            release.key("raw").arg(number).invoke_async(&mut connection).await.expect("released");
        assert_eq!(released, 1);
    }
    now() - started
}

async fn pairs(locks: &Locks) -> Duration {
    let started = now();
    for _ in 0..PAIRS {
        let acquired = locks.try_acquire("pairs", TTL).await.expect("an answer");
        let TryAcquired::Acquired(guard) = acquired else { panic!("somebody holds it") };
        assert!(guard.release().await.expect("an answer").released());
    }
    now() - started
}

/// From the moment a holder begins to release until the next one has the lock, the release's own
/// round trip included.
async fn hand_offs(name: &str, store: &Arc<dyn Store>) {
    // Each waits as a process of its own would.
    let (tell_taken, mut taken) = mpsc::unbounded_channel::<Instant>();
    let waiters: Vec<_> = (0..WAITERS)
        .map(|_| tokio::spawn(in_turn(Locks::new(Arc::clone(store)), tell_taken.clone())))
        .collect();
    drop(tell_taken);
    let mut all = Vec::new();
    while let Some(turn) = taken.recv().await {
        all.push(turn);
    }
    for waiter in waiters {
        waiter.await.expect("no panic");
    }
    all.sort();
    let mut spent: Vec<_> = all.windows(2).map(|pair| pair[1] - pair[0]).collect();
    spent.sort();
    let got = spent[spent.len() * 99 / 100];
    let at_most = Duration::from_millis(10);
    tell(&format!("{name}: hand-off among {WAITERS}, p99"), Figure::Time { got, at_most });
}

/// Takes the lock again and again, tells when it got it, and releases it at once.
async fn in_turn(locks: Locks, told: mpsc::UnboundedSender<Instant>) {
    for _ in 0..HAND_OFFS / WAITERS {
        let budget = Duration::from_secs(60);
        let acquired = locks.acquire_within("turns", TTL, budget).await.expect("an answer");
        let AcquiredWithin::Acquired(guard) = acquired else { panic!("it took a minute") };
        told.send(now()).expect("somebody listens");
        guard.release().await.expect("an answer");
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn now() -> Instant {
    Instant::now()
}
