//! The gate in the caller's transaction: order, two holders at every step, names of all sorts.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use semel_core::{Fence, GateAnswer, GateError, StoreErrorKind};
use semel_postgres::FenceGate;
use semel_testkit::{PostgresServer, eventually};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, GenericClient, IsolationLevel, NoTls};

const RESOURCE: &str = "orders:42";
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

struct Place {
    server: PostgresServer,
}

impl Place {
    async fn new() -> Self {
        let place = Self { server: PostgresServer::launch().await.unwrap() };
        let db = place.connect().await;
        db.batch_execute("CREATE TABLE writes (number bigserial, fence bigint)").await.unwrap();
        FenceGate::new().create_table(&db).await.unwrap();
        place
    }

    async fn connect(&self) -> Client {
        connect(&self.server.url()).await
    }

    /// The fences of what was written, in the order in which it was.
    async fn written(&self) -> Vec<i64> {
        let rows = self.connect().await;
        let rows = rows.query("SELECT fence FROM writes ORDER BY number", &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// One guarded write in a transaction of its own.
async fn turn(db: &mut Client, resource: &str, fence: u64) -> GateAnswer {
    let tx = db.transaction().await.unwrap();
    let answer = FenceGate::new().check(&tx, resource, Fence::new(fence)).await.unwrap();
    if answer == GateAnswer::Passed {
        write(&tx, fence).await;
        tx.commit().await.unwrap();
    }
    answer
}

async fn write(db: &(impl GenericClient + Sync), fence: u64) {
    let fence = fence.cast_signed();
    db.execute("INSERT INTO writes (fence) VALUES ($1)", &[&fence]).await.unwrap();
}

const fn refused(seen: u64) -> GateAnswer {
    GateAnswer::Refused { seen: Fence::new(seen) }
}

#[tokio::test]
async fn a_smaller_fence_is_refused_and_an_equal_or_larger_one_passes() {
    let place = Place::new().await;
    let mut db = place.connect().await;
    for (fence, answer) in [
        (0, GateAnswer::Passed),
        (7, GateAnswer::Passed),
        (7, GateAnswer::Passed),
        (9, GateAnswer::Passed),
        (8, refused(9)),
        (9, GateAnswer::Passed),
        (i64::MAX as u64, GateAnswer::Passed),
        (9, refused(i64::MAX as u64)),
    ] {
        assert_eq!(turn(&mut db, RESOURCE, fence).await, answer, "{fence}");
    }
    assert_eq!(turn(&mut db, "another", 1).await, GateAnswer::Passed);
    let tx = db.transaction().await.unwrap();
    let over = Fence::new(i64::MAX as u64 + 1);
    let error = FenceGate::new().check(&tx, RESOURCE, over).await.unwrap_err();
    assert!(matches!(error, GateError::FenceTooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_rolled_back_is_not_remembered() {
    let place = Place::new().await;
    let mut db = place.connect().await;
    let tx = db.transaction().await.unwrap();
    let answer = FenceGate::new().check(&tx, RESOURCE, Fence::new(9)).await.unwrap();
    assert_eq!(answer, GateAnswer::Passed);
    tx.rollback().await.unwrap();
    assert_eq!(turn(&mut db, RESOURCE, 8).await, GateAnswer::Passed);
}

#[tokio::test]
async fn names_are_taken_literally_and_those_no_lock_can_have_are_refused() {
    let place = Place::new().await;
    let mut db = place.connect().await;
    let names =
        ["');DROP_TABLE_writes;--", "\"", "%", "$1", "a{b}", "ключ", "Orders:42", "orders:42"];
    for (fence, name) in (1..).zip(names).collect::<Vec<_>>().into_iter().rev() {
        assert_eq!(turn(&mut db, name, fence).await, GateAnswer::Passed, "{name}");
        assert_eq!(turn(&mut db, name, fence - 1).await, refused(fence), "{name}");
    }
    for name in ["", " ", "a b", "a\0b", "a\nb", &"x".repeat(600)] {
        let tx = db.transaction().await.unwrap();
        let error = FenceGate::new().check(&tx, name, Fence::new(1)).await.unwrap_err();
        assert!(matches!(error, GateError::Resource(_)), "{name:?}: {error:?}");
    }
    db.batch_execute("CREATE SCHEMA \"od\"\"d\"").await.unwrap();
    let odd = FenceGate::in_table("od\"d", "x\"; DROP TABLE writes; --");
    odd.create_table(&db).await.unwrap();
    let tx = db.transaction().await.unwrap();
    assert_eq!(odd.check(&tx, RESOURCE, Fence::new(1)).await.unwrap(), GateAnswer::Passed);
}

#[tokio::test]
async fn a_table_that_is_missing_or_holds_no_fence_is_an_error_and_lets_nothing_pass() {
    let place = Place::new().await;
    let mut db = place.connect().await;
    let tx = db.transaction().await.unwrap();
    let nowhere = FenceGate::in_table("public", "nowhere");
    let error = nowhere.check(&tx, RESOURCE, Fence::new(1)).await.unwrap_err();
    assert!(matches!(error, GateError::Store(_)), "{error:?}");
    tx.rollback().await.unwrap();
    let sql = "CREATE TABLE loose (resource text PRIMARY KEY, fence numeric, seen_at timestamptz)";
    db.batch_execute(sql).await.unwrap();
    let tx = db.transaction().await.unwrap();
    let loose = FenceGate::in_table("public", "loose");
    let error = loose.check(&tx, RESOURCE, Fence::new(1)).await.unwrap_err();
    assert!(matches!(error, GateError::Store(_)), "{error:?}");
}

#[tokio::test]
async fn many_make_the_table_at_once() {
    let server = PostgresServer::launch().await.unwrap();
    let makers = (0..8).map(|_| {
        let url = server.url();
        tokio::spawn(async move { FenceGate::new().create_table(&connect(&url).await).await })
    });
    for maker in makers.collect::<Vec<_>>() {
        maker.await.unwrap().unwrap();
    }
}

/// The form for a table with a column for the fence, as it is documented.
#[tokio::test]
async fn the_condition_of_a_write_refuses_a_smaller_fence() {
    let place = Place::new().await;
    let db = place.connect().await;
    db.batch_execute("CREATE TABLE orders (id bigint, state text)").await.unwrap();
    db.batch_execute("INSERT INTO orders VALUES (42, 'new')").await.unwrap();
    let page = include_str!("../src/fence_gate/mod.rs");
    let alter = "ALTER TABLE orders ADD COLUMN fence bigint NOT NULL DEFAULT 0";
    let sql = "UPDATE orders SET state = $2, fence = $1 WHERE id = $3 AND fence <= $1";
    assert!(page.contains(alter) && page.contains(sql), "this is not what is documented");
    db.batch_execute(alter).await.unwrap();
    for (fence, state, changed) in [(8_i64, "paid", 1), (7, "late", 0), (8, "sent", 1)] {
        let done = db.execute(sql, &[&fence, &state, &42_i64]).await.unwrap();
        assert_eq!(done, changed, "{fence}");
    }
    let state = db.query_one("SELECT state FROM orders", &[]).await.unwrap();
    assert_eq!(state.get::<_, String>(0), "sent");
}

/// The SQL of the page, in its order.
fn documented() -> Vec<String> {
    let page = include_str!("../src/fence_gate/mod.rs").replace("/// ", "");
    let blocks = page.split("```sql\n").skip(1);
    blocks.map(|block| block.split_once("```").unwrap().0.to_owned()).collect()
}

#[tokio::test]
async fn the_documented_table_takes_what_the_gate_writes_and_can_be_cleaned_as_documented() {
    let server = PostgresServer::launch().await.unwrap();
    let mut db = connect(&server.url()).await;
    let [create, clean] = &documented()[..] else { panic!("two pieces of SQL") };
    db.batch_execute(create).await.unwrap();
    for (age, left) in [("1 day", 1), ("2 years", 0)] {
        let tx = db.transaction().await.unwrap();
        for fence in [1, 2] {
            let answer = FenceGate::new().check(&tx, RESOURCE, Fence::new(fence)).await.unwrap();
            assert_eq!(answer, GateAnswer::Passed);
        }
        tx.commit().await.unwrap();
        let aged = format!("UPDATE semel_fence SET seen_at = now() - interval '{age}'");
        db.batch_execute(&aged).await.unwrap();
        db.batch_execute(clean).await.unwrap();
        assert_eq!(db.query("SELECT FROM semel_fence", &[]).await.unwrap().len(), left);
        db.batch_execute("TRUNCATE semel_fence").await.unwrap();
    }
}

/// Each check that passes makes its row young again.
#[tokio::test]
async fn a_resource_that_is_worked_on_is_not_cleaned_away() {
    let place = Place::new().await;
    let mut db = place.connect().await;
    assert_eq!(turn(&mut db, RESOURCE, 9).await, GateAnswer::Passed);
    let aged = "UPDATE semel_fence SET seen_at = now() - interval '2 years'";
    db.batch_execute(aged).await.unwrap();
    assert_eq!(turn(&mut db, RESOURCE, 9).await, GateAnswer::Passed);
    db.batch_execute(&documented()[1]).await.unwrap();
    assert_eq!(turn(&mut db, RESOURCE, 8).await, refused(9));
}

/// Under snapshots of the whole transaction an older view is no way around the gate.
#[tokio::test]
async fn a_transaction_that_looked_before_a_later_holder_committed_does_not_pass() {
    let place = Place::new().await;
    let (mut older, mut newer) = (place.connect().await, place.connect().await);
    assert_eq!(turn(&mut newer, RESOURCE, 7).await, GateAnswer::Passed);
    for level in [IsolationLevel::RepeatableRead, IsolationLevel::Serializable] {
        let tx = older.build_transaction().isolation_level(level).start().await.unwrap();
        tx.query("SELECT * FROM writes", &[]).await.unwrap();
        assert_eq!(turn(&mut newer, RESOURCE, 8).await, GateAnswer::Passed);
        let error = FenceGate::new().check(&tx, RESOURCE, Fence::new(7)).await.unwrap_err();
        let GateError::Store(error) = error else { panic!("{error:?}") };
        assert_eq!(error.kind(), StoreErrorKind::NotApplied);
        tx.rollback().await.unwrap();
    }
}

#[cfg(feature = "sqlx")]
#[tokio::test]
async fn in_a_transaction_of_sqlx_it_is_the_same_gate() {
    use semel_postgres::sqlx::{Connection, PgConnection};
    let place = Place::new().await;
    let mut db = place.connect().await;
    assert_eq!(turn(&mut db, RESOURCE, 7).await, GateAnswer::Passed);
    let mut other = PgConnection::connect(&place.server.url()).await.unwrap();
    for (fence, due) in [(6, refused(7)), (7, GateAnswer::Passed), (9, GateAnswer::Passed)] {
        let mut tx = other.begin().await.unwrap();
        let gate = FenceGate::new();
        let answer = gate.check_sqlx(&mut tx, RESOURCE, Fence::new(fence)).await.unwrap();
        assert_eq!(answer, due, "{fence}");
        tx.commit().await.unwrap();
    }
    assert_eq!(turn(&mut db, RESOURCE, 8).await, refused(9));
}

// ===== two holders =====

/// A holder that goes one step when it is told to.
struct Holder {
    go: UnboundedSender<()>,
    done: UnboundedReceiver<()>,
    task: JoinHandle<()>,
}

impl Holder {
    /// Its steps: begin, check, write, commit. It stops where it is refused.
    fn begin(mut db: Client, fence: u64) -> Self {
        let ((go, mut told), (tells, done)) = (unbounded_channel(), unbounded_channel());
        let task = tokio::spawn(async move {
            told.recv().await;
            let tx = db.transaction().await.unwrap();
            tells.send(()).unwrap();
            told.recv().await;
            let answer = FenceGate::new().check(&tx, RESOURCE, Fence::new(fence)).await.unwrap();
            tells.send(()).unwrap();
            if answer != GateAnswer::Passed {
                return;
            }
            told.recv().await;
            write(&tx, fence).await;
            tells.send(()).unwrap();
            told.recv().await;
            tx.commit().await.unwrap();
            tells.send(()).unwrap();
        });
        Self { go, done, task }
    }

    /// Tells it to go on, until it has, has ended, or waits for the other one at the server.
    async fn go(&mut self, watch: &Client) {
        let _ = self.go.send(());
        let waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        let blocked = eventually(PATIENCE, "one that waits", || async {
            (!watch.query(waits, &[]).await.ok()?.is_empty()).then_some(())
        });
        tokio::select! {
            biased;
            _ = self.done.recv() => {}
            blocked = blocked => blocked.unwrap(),
        }
    }
}

/// All ways in which the four steps of one can fall between the four of the other.
fn interleavings() -> impl Iterator<Item = Vec<bool>> {
    (0_u32..1 << 8)
        .filter(|bits| bits.count_ones() == 4)
        .map(|bits| (0..8).map(|at| bits >> at & 1 == 1).collect())
}

/// HZ-10: however their steps fall, nothing of the older one lands after the newer one's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hz10_two_holders_interleaved_at_every_step_never_land_in_the_wrong_order() {
    let place = Place::new().await;
    let db = place.connect().await;
    let (mut refusals, mut waited) = (0, 0);
    for order in interleavings() {
        db.batch_execute("TRUNCATE writes, semel_fence").await.unwrap();
        let mut older = Holder::begin(place.connect().await, 7);
        let mut newer = Holder::begin(place.connect().await, 8);
        for is_older in &order {
            let holder = if *is_older { &mut older } else { &mut newer };
            holder.go(&db).await;
        }
        // Who had to wait goes on now: every step was told once, and nobody needs more.
        older.task.await.unwrap();
        newer.task.await.unwrap();
        let written = place.written().await;
        assert!(written == [7, 8] || written == [8], "{order:?}: {written:?}");
        refusals += usize::from(written == [8]);
        waited += usize::from(written == [7, 8]);
    }
    assert!(refusals > 0 && waited > 0, "nobody came late, or nobody was in time");
}
