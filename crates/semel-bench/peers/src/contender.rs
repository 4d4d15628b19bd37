//! Those who compete: each opens a connection of its own.

use std::time::Duration;

use distributed_lock_core::{DistributedLock, LockError, LockHandle, LockProvider};
use distributed_lock_redis::RedisLockProvider;
use redis::Script;
use redis::aio::MultiplexedConnection;
use rslock::LockManager;
use semel::{AcquiredWithin, Locks, TryAcquired};

const TTL: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(120);

/// Locks of one kind.
pub trait Contender: Sized + Send + Sync + 'static {
    const NAME: &'static str;

    fn open(url: &str) -> impl Future<Output = Self> + Send;

    /// Acquires and releases a lock that nobody else wants.
    fn pair(&self) -> impl Future<Output = ()> + Send;
}

/// Locks that can be waited for.
pub trait Waits: Contender {
    /// Waits for the lock, does `work` under it, and releases it.
    fn turn(&self, work: impl FnOnce() + Send) -> impl Future<Output = ()> + Send;
}

/// As a lock without a fence does it: set if absent, and delete if it is still ours.
pub struct Raw(MultiplexedConnection, Script);

impl Contender for Raw {
    const NAME: &'static str = "two raw commands";

    async fn open(url: &str) -> Self {
        let client = redis::Client::open(url).expect("a URL");
        let release = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end \
             return 0",
        );
        Self(client.get_multiplexed_async_connection().await.expect("a connection"), release)
    }

    async fn pair(&self) {
        let mut connection = self.0.clone();
        let mut acquire = redis::cmd("SET");
        acquire.arg("pairs-raw").arg("token").arg("NX").arg("PX").arg(10_000);
        acquire.exec_async(&mut connection).await.expect("acquired");
        let mut release = self.1.key("pairs-raw");
        let released: u32 =
            release.arg("token").invoke_async(&mut connection).await.expect("released");
        assert_eq!(released, 1);
    }
}

pub struct Semel(Locks);

impl Contender for Semel {
    const NAME: &'static str = "semel";

    async fn open(url: &str) -> Self {
        Self(Locks::new(semel::open(url).await.expect("a store")))
    }

    async fn pair(&self) {
        let acquired = self.0.try_acquire("pairs", TTL).await.expect("an answer");
        let TryAcquired::Acquired(guard) = acquired else { panic!("somebody holds it") };
        assert!(guard.release().await.expect("an answer").released());
    }
}

impl Waits for Semel {
    async fn turn(&self, work: impl FnOnce() + Send) {
        let acquired = self.0.acquire_within("turns", TTL, PATIENCE).await.expect("an answer");
        let AcquiredWithin::Acquired(guard) = acquired else { panic!("it took two minutes") };
        work();
        guard.release().await.expect("an answer");
    }
}

pub struct Redlock(LockManager);

impl Contender for Redlock {
    const NAME: &'static str = "rslock";

    async fn open(url: &str) -> Self {
        Self(LockManager::new(vec![url]))
    }

    async fn pair(&self) {
        let lock = self.0.lock("pairs-redlock", TTL).await.expect("acquired");
        self.0.unlock(&lock).await;
    }
}

impl Waits for Redlock {
    async fn turn(&self, work: impl FnOnce() + Send) {
        let lock = self.0.acquire_no_guard("turns-redlock", TTL).await.expect("acquired");
        work();
        self.0.unlock(&lock).await;
    }
}

pub struct Peer(RedisLockProvider);

impl Contender for Peer {
    const NAME: &'static str = "distributed-lock";

    async fn open(url: &str) -> Self {
        Self(RedisLockProvider::new(url).await.expect("a provider"))
    }

    async fn pair(&self) {
        let lock = self.0.create_lock("pairs-peer");
        let handle = lock.try_acquire().await.expect("an answer").expect("it is free");
        handle.release().await.expect("released");
    }
}

impl Waits for Peer {
    /// As often as it takes: under contention it may not get the lock in all its time.
    async fn turn(&self, work: impl FnOnce() + Send) {
        let lock = self.0.create_lock("turns-peer");
        let handle = loop {
            match lock.acquire(Some(PATIENCE)).await {
                Ok(handle) => break handle,
                Err(LockError::Timeout(_)) => {}
                Err(error) => panic!("{error}"),
            }
        };
        work();
        handle.release().await.expect("released");
    }
}
