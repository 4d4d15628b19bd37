//! Fences rise: over releases, ends, restarts and wiped stores.
//!
//! A few hundred grants; a hundred thousand in the long tier of `cargo xtask proof`.

use std::path::PathBuf;

use futures_util::future::join_all;
use semel::{AcquiredWithin, Fence, LockError, LockGuard, Locks};
use semel_testkit::{AppendFsync, PostgresServer, RedisServer};

use super::tier::Tier;
use super::{millis, process, secs};

/// Resources that are locked beside each other, each by two processes in turn.
const LANES: usize = 8;

/// A store that is restarted and wiped.
trait Shaken {
    fn url(&self) -> String;

    async fn restart(&mut self);

    /// Nothing is left of what it knew.
    async fn wipe(&mut self);
}

/// An engine, however long the store takes to be there again.
async fn opened(url: &str) -> Locks {
    let open = async || semel::open(url).await.ok();
    Locks::new(semel_testkit::eventually(secs(60), "a store", open).await.unwrap())
}

/// The lock, however long the store takes to be there again.
async fn acquired(locks: &Locks, resource: &str, ttl: u64) -> LockGuard {
    let acquire = async || match locks.acquire_within(resource, millis(ttl), secs(60)).await {
        Ok(AcquiredWithin::Acquired(guard)) => Some(guard),
        Err(LockError::Unavailable(_) | LockError::Indeterminate(_)) => None,
        other => panic!("{resource}: {other:?}"),
    };
    semel_testkit::eventually(secs(90), "a lock", acquire).await.unwrap()
}

/// Given back, however long the store takes: on a busy machine a reply may come too late.
async fn released(guard: &LockGuard) {
    let release = async || match guard.release().await {
        Ok(_) => Some(()),
        Err(LockError::Unavailable(_) | LockError::Indeterminate(_)) => None,
        Err(error) => panic!("{error:?}"),
    };
    semel_testkit::eventually(secs(60), "a release", release).await.unwrap();
}

/// So many grants of one resource. Gives the last fence.
async fn lane(engines: &[Locks; 2], lane: usize, grants: usize, mut last: Fence) -> Fence {
    let resource = format!("lane:{lane}");
    for number in 0..grants {
        // Of a hundred, one ends by itself and one is dropped.
        let ends = number % 100 == 1;
        let guard = acquired(&engines[number % 2], &resource, if ends { 20 } else { 30_000 }).await;
        assert!(guard.fence() > last, "{resource}, {number}: {} after {last}", guard.fence());
        last = guard.fence();
        match number % 100 {
            1 => std::mem::forget(guard.detach()),
            2 => drop(guard),
            _ => released(&guard).await,
        }
    }
    last
}

async fn fences_rise(mut store: impl Shaken, rounds: usize, grants: usize) {
    let mut last = vec![Fence::new(0); LANES];
    for round in 0..rounds {
        let url = store.url();
        let engines = [opened(&url).await, opened(&url).await];
        let each = grants / rounds / LANES;
        let lanes = last.iter().enumerate();
        let lanes = lanes.map(|(number, last)| lane(&engines, number, each, *last));
        last = join_all(lanes).await;
        for engine in engines {
            engine.shutdown(secs(10)).await;
        }
        if round % 2 == 0 { store.restart().await } else { store.wipe().await }
    }
    println!("{grants} fences rose over {rounds} restarts and wipes");
}

fn grants() -> (usize, usize) {
    Tier::now().pick((4, 800), (8, 4_000), (40, 100_000))
}

// ===== SQLite =====

struct InFile(tempfile::TempDir);

impl InFile {
    fn path(&self) -> PathBuf {
        self.0.path().join("locks.db")
    }
}

impl Shaken for InFile {
    fn url(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    /// It is opened anew for each round.
    async fn restart(&mut self) {}

    async fn wipe(&mut self) {
        for file in std::fs::read_dir(self.0.path()).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proof_rd10_fences_rise_over_restarts_and_wipes_of_sqlite() {
    let (rounds, grants) = grants();
    fences_rise(InFile(tempfile::tempdir().unwrap()), rounds, grants).await;
}

// ===== Redis =====

impl Shaken for RedisServer {
    fn url(&self) -> String {
        Self::url(self)
    }

    async fn restart(&mut self) {
        Self::restart(self).await.unwrap();
    }

    async fn wipe(&mut self) {
        self.restart_empty().await.unwrap();
        self.command(&["FLUSHALL"]).await.unwrap();
    }
}

/// INCR would begin at 1 again.
#[tokio::test(flavor = "multi_thread")]
async fn proof_rd10_fences_rise_over_restarts_and_wipes_of_redis() {
    let server = RedisServer::builder().append_only(AppendFsync::EverySecond);
    let (rounds, grants) = grants();
    fences_rise(server.start().await.unwrap(), rounds, grants).await;
}

/// Wiped in the middle of it, again and again, with the lock held.
#[tokio::test(flavor = "multi_thread")]
async fn fences_rise_over_a_redis_that_is_wiped_again_and_again() {
    let server = RedisServer::start().await.unwrap();
    let locks = process(&server.url(), "ours").await;
    let mut last = Fence::new(0);
    for number in 0..1_000 {
        let guard = acquired(&locks, "r", 30_000).await;
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

// ===== PostgreSQL =====

impl Shaken for PostgresServer {
    fn url(&self) -> String {
        Self::url(self)
    }

    async fn restart(&mut self) {
        Self::restart(self).await.unwrap();
    }

    async fn wipe(&mut self) {
        self.sql("DROP SCHEMA semel CASCADE").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proof_rd10_fences_rise_over_restarts_and_wipes_of_postgres() {
    let (rounds, grants) = grants();
    fences_rise(PostgresServer::launch().await.unwrap(), rounds, grants).await;
}
