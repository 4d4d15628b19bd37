//! The counter again, behind the gates of the stores' own crates: in a database's transaction and
//! in a script.

use std::future::Future;
use std::time::Duration;

use semel::{AcquiredWithin, Fence, GateAnswer, LockError, LockGuard, Locks};
use semel_redis::redis::{self, AsyncCommands};
use semel_sqlite::rusqlite::{self, TransactionBehavior};
use semel_testkit::StorePlace;

use super::{millis, secs};

const RESOURCE: &str = "counter";

/// A counter that looks at fences, or not where it is shown none.
trait Counter: Clone + Send + Sync + 'static {
    /// None where the fence is refused; from here on an older one is.
    fn read(&self, fence: Option<Fence>) -> impl Future<Output = Option<u64>> + Send;

    /// Whether it was written.
    fn write(&self, fence: Option<Fence>, value: u64) -> impl Future<Output = bool> + Send;
}

/// One worker's turns; how many of its writes were accepted.
async fn turns(place: &str, worker: usize, counter: impl Counter, guarded: bool) -> u64 {
    let locks = super::process(place, &format!("worker {worker}")).await;
    let mut accepted = 0;
    for round in 0..4_usize {
        let guard = turn(&locks).await;
        let fence = guarded.then(|| guard.fence());
        let Some(read) = counter.read(fence).await else { continue };
        if (worker + round).is_multiple_of(3) {
            // It is past its lease when it wakes, and does not look.
            semel::timer::sleep(millis(300)).await;
        }
        accepted += u64::from(counter.write(fence, read + 1).await);
        // Whatever became of it.
        let _ = guard.release().await;
    }
    accepted
}

/// The lock, for a lease so short that a busy disk may be slower: then nothing was granted.
async fn turn(locks: &Locks) -> LockGuard {
    loop {
        match locks.acquire_within(RESOURCE, millis(120), secs(60)).await {
            Ok(AcquiredWithin::Acquired(guard)) => return guard,
            Err(LockError::Unavailable(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// How many accepted writes were lost.
async fn lost(place: &StorePlace, counter: &impl Counter, guarded: bool) -> u64 {
    let before = counter.read(None).await.unwrap();
    let workers = (0..3).map(|worker| {
        let (url, counter) = (place.url().to_owned(), counter.clone());
        tokio::spawn(async move { turns(&url, worker, counter, guarded).await })
    });
    let mut accepted = 0;
    for worker in workers.collect::<Vec<_>>() {
        accepted += worker.await.unwrap();
    }
    assert!(accepted > 0, "nothing was written");
    accepted - (counter.read(None).await.unwrap() - before)
}

/// The unguarded one must lose something, or this shows nothing.
async fn guarded_loses_nothing(place: StorePlace, counter: impl Counter) {
    assert_eq!(lost(&place, &counter, true).await, 0);
    let mut tries = 0..5;
    while lost(&place, &counter, false).await == 0 {
        assert!(tries.next().is_some(), "nobody stood still at the wrong moment");
    }
}

// ===== SQLite =====

/// A file of its own, as an application has it.
#[derive(Clone)]
struct InSqlite(String);

impl InSqlite {
    fn connect(&self) -> rusqlite::Connection {
        let db = rusqlite::Connection::open(&self.0).unwrap();
        db.busy_timeout(Duration::from_secs(60)).unwrap();
        db
    }

    fn inside<T>(
        &self,
        fence: Option<Fence>,
        work: impl FnOnce(&rusqlite::Connection) -> T,
    ) -> Option<T> {
        let mut db = self.connect();
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        if let Some(fence) = fence
            && semel_sqlite::FenceGate::new().check(&tx, RESOURCE, fence).unwrap()
                != GateAnswer::Passed
        {
            return None;
        }
        let worked = work(&tx);
        tx.commit().unwrap();
        Some(worked)
    }
}

impl Counter for InSqlite {
    async fn read(&self, fence: Option<Fence>) -> Option<u64> {
        let sql = "SELECT value FROM counter";
        let read = self.inside(fence, |db| db.query_row(sql, [], |row| row.get::<_, i64>(0)));
        read.map(|value| value.unwrap().cast_unsigned())
    }

    async fn write(&self, fence: Option<Fence>, value: u64) -> bool {
        let sql = "UPDATE counter SET value = ?1";
        self.inside(fence, |db| db.execute(sql, [value.cast_signed()]).unwrap()).is_some()
    }
}

/// HZ-10.
#[tokio::test(flavor = "multi_thread")]
async fn hz10_a_counter_in_sqlite_behind_its_gate_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let counter = InSqlite(folder.path().join("shop.db").display().to_string());
    let db = counter.connect();
    db.execute_batch("CREATE TABLE counter (value INTEGER); INSERT INTO counter VALUES (0)")
        .unwrap();
    semel_sqlite::FenceGate::new().create_table(&db).unwrap();
    guarded_loses_nothing(StorePlace::file().unwrap(), counter).await;
}

// ===== PostgreSQL =====

#[derive(Clone)]
struct InPostgres(String);

impl InPostgres {
    async fn connect(&self) -> semel_postgres::tokio_postgres::Client {
        use semel_postgres::tokio_postgres::{NoTls, connect};
        let (client, connection) = connect(&self.0, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// The counter's value before, and after `value` was written, if any is.
    async fn inside(&self, fence: Option<Fence>, value: Option<u64>) -> Option<u64> {
        let mut db = self.connect().await;
        let tx = db.transaction().await.unwrap();
        if let Some(fence) = fence {
            let gate = semel_postgres::FenceGate::new();
            if gate.check(&tx, RESOURCE, fence).await.unwrap() != GateAnswer::Passed {
                return None;
            }
        }
        let read = tx.query_one("SELECT value FROM counter", &[]).await.unwrap();
        if let Some(value) = value {
            let sql = "UPDATE counter SET value = $1";
            tx.execute(sql, &[&value.cast_signed()]).await.unwrap();
        }
        tx.commit().await.unwrap();
        Some(read.get::<_, i64>(0).cast_unsigned())
    }
}

impl Counter for InPostgres {
    async fn read(&self, fence: Option<Fence>) -> Option<u64> {
        self.inside(fence, None).await
    }

    async fn write(&self, fence: Option<Fence>, value: u64) -> bool {
        self.inside(fence, Some(value)).await.is_some()
    }
}

/// HZ-10.
#[tokio::test(flavor = "multi_thread")]
async fn hz10_a_counter_in_postgres_behind_its_gate_loses_nothing() {
    let place = StorePlace::postgres().await.unwrap();
    let counter = InPostgres(place.url().to_owned());
    let db = counter.connect().await;
    db.batch_execute("CREATE TABLE counter (value bigint); INSERT INTO counter VALUES (0)")
        .await
        .unwrap();
    semel_postgres::FenceGate::new().create_table(&db).await.unwrap();
    guarded_loses_nothing(place, counter).await;
}

// ===== Redis =====

#[derive(Clone)]
struct InRedis(redis::aio::MultiplexedConnection);

const VALUE: &str = "{counter}:value";

impl Counter for InRedis {
    async fn read(&self, fence: Option<Fence>) -> Option<u64> {
        let mut connection = self.0.clone();
        if let Some(fence) = fence {
            let gate = semel_redis::FenceGate::new();
            let answer = gate.check(&mut connection, RESOURCE, fence).await.unwrap();
            if answer != GateAnswer::Passed {
                return None;
            }
        }
        Some(connection.get::<_, Option<u64>>(VALUE).await.unwrap().unwrap_or(0))
    }

    async fn write(&self, fence: Option<Fence>, value: u64) -> bool {
        let mut connection = self.0.clone();
        let Some(fence) = fence else {
            connection.set::<_, _, ()>(VALUE, value).await.unwrap();
            return true;
        };
        let gate = semel_redis::FenceGate::new();
        let set = gate.set(&mut connection, RESOURCE, fence, VALUE, value.to_string()).await;
        set.unwrap() == GateAnswer::Passed
    }
}

/// HZ-10.
#[tokio::test(flavor = "multi_thread")]
async fn hz10_a_counter_in_redis_behind_its_gate_loses_nothing() {
    let place = StorePlace::redis().await.unwrap();
    let client = redis::Client::open(place.url().to_owned()).unwrap();
    let counter = InRedis(client.get_multiplexed_async_connection().await.unwrap());
    guarded_loses_nothing(place, counter).await;
}
