//! The gate in the caller's transaction: order, two holders at every step, names of all sorts.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use semel_core::{Fence, GateAnswer, GateError, Refusal, StoreErrorKind};
use semel_sqlite::FenceGate;

const RESOURCE: &str = "orders:42";

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let db = place.connect();
        db.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE writes (number INTEGER PRIMARY KEY, fence INTEGER NOT NULL)",
        )
        .unwrap();
        FenceGate::new().create_table(&db).unwrap();
        FenceGate::new().create_table(&db).unwrap();
        place
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("shop.db")
    }

    fn connect(&self) -> Connection {
        connect(&self.path())
    }

    /// The fences of what was written, in the order in which it was.
    fn written(&self) -> Vec<u64> {
        let db = self.connect();
        let mut rows = db.prepare("SELECT fence FROM writes ORDER BY number").unwrap();
        let fences = rows.query_map([], |row| row.get::<_, i64>(0)).unwrap();
        fences.map(|fence| fence.unwrap().cast_unsigned()).collect()
    }
}

fn connect(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    db
}

/// One guarded write in a transaction of its own.
fn turn(db: &mut Connection, resource: &str, fence: u64) -> GateAnswer {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let answer = FenceGate::new().check(&tx, resource, Fence::new(fence)).unwrap();
    if answer == GateAnswer::Passed {
        write(&tx, fence);
        tx.commit().unwrap();
    }
    answer
}

fn write(db: &Connection, fence: u64) {
    db.execute("INSERT INTO writes (fence) VALUES (?1)", [fence.cast_signed()]).unwrap();
}

const fn refused(seen: u64) -> GateAnswer {
    GateAnswer::Refused { seen: Fence::new(seen) }
}

#[test]
fn a_smaller_fence_is_refused_and_an_equal_or_larger_one_passes() {
    let place = Place::new();
    let mut db = place.connect();
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
        assert_eq!(turn(&mut db, RESOURCE, fence), answer, "{fence}");
    }
    assert_eq!(turn(&mut db, "another", 1), GateAnswer::Passed);
}

#[test]
fn what_is_rolled_back_is_not_remembered() {
    let place = Place::new();
    let mut db = place.connect();
    let tx = db.transaction().unwrap();
    let answer = FenceGate::new().check(&tx, RESOURCE, Fence::new(9)).unwrap();
    assert_eq!(answer, GateAnswer::Passed);
    tx.rollback().unwrap();
    assert_eq!(turn(&mut db, RESOURCE, 8), GateAnswer::Passed);
}

#[test]
fn outside_of_a_transaction_and_over_the_limit_nothing_passes() {
    let place = Place::new();
    let mut db = place.connect();
    let error = FenceGate::new().check(&db, RESOURCE, Fence::new(1)).unwrap_err();
    let GateError::Store(error) = error else { panic!("{error:?}") };
    assert_eq!(error.kind(), StoreErrorKind::Refused(Refusal::Unusable));
    let tx = db.transaction().unwrap();
    let over = Fence::new(i64::MAX as u64 + 1);
    let error = FenceGate::new().check(&tx, RESOURCE, over).unwrap_err();
    assert!(matches!(error, GateError::FenceTooLarge { .. }), "{error:?}");
}

#[test]
fn a_table_that_is_missing_or_holds_no_fence_is_an_error_and_lets_nothing_pass() {
    let place = Place::new();
    let mut db = place.connect();
    let tx = db.transaction().unwrap();
    FenceGate::in_table("nowhere").check(&tx, RESOURCE, Fence::new(1)).unwrap_err();
    tx.execute_batch(
        "CREATE TABLE loose (resource PRIMARY KEY, fence, seen_at);
         INSERT INTO loose VALUES ('orders:42', 'many', 0)",
    )
    .unwrap();
    let error = FenceGate::in_table("loose").check(&tx, RESOURCE, Fence::new(1)).unwrap_err();
    let GateError::Store(error) = error else { panic!("{error:?}") };
    assert_eq!(error.kind(), StoreErrorKind::Damaged);
}

#[test]
fn names_are_taken_literally_and_those_no_lock_can_have_are_refused() {
    let place = Place::new();
    let mut db = place.connect();
    let names = ["'); DROP TABLE writes; --", "\"", "%", "a{b}", "ключ", "Orders:42", "orders:42"];
    for (fence, name) in (1..).zip(names).collect::<Vec<_>>().into_iter().rev() {
        let name = name.replace(' ', "_");
        assert_eq!(turn(&mut db, &name, fence), GateAnswer::Passed, "{name}");
        assert_eq!(turn(&mut db, &name, fence - 1), refused(fence), "{name}");
    }
    let tx = db.transaction().unwrap();
    for name in ["", " ", "a b", "a\0b", "a\nb", &"x".repeat(600)] {
        let error = FenceGate::new().check(&tx, name, Fence::new(1)).unwrap_err();
        assert!(matches!(error, GateError::Resource(_)), "{name:?}: {error:?}");
    }
    let odd = FenceGate::in_table("odd\"; DROP TABLE writes; --");
    odd.create_table(&tx).unwrap();
    assert_eq!(odd.check(&tx, RESOURCE, Fence::new(1)).unwrap(), GateAnswer::Passed);
}

/// The SQL of the page, as it is documented; each check that passes makes its row young again.
#[test]
fn the_documented_table_takes_what_the_gate_writes_and_can_be_cleaned_as_documented() {
    let page = include_str!("../src/fence_gate.rs").replace("/// ", "");
    let blocks = page.split("```sql\n").skip(1).map(|block| block.split_once("```").unwrap().0);
    let [create, clean] = blocks.collect::<Vec<_>>()[..] else { panic!("two pieces of SQL") };
    let mut db = Connection::open_in_memory().unwrap();
    db.execute_batch(create).unwrap();
    db.execute_batch("CREATE TABLE writes (fence INTEGER)").unwrap();
    let aged = "UPDATE semel_fence SET seen_at = unixepoch('now', '-2 years')";
    assert_eq!(turn(&mut db, RESOURCE, 9), GateAnswer::Passed);
    db.execute_batch(aged).unwrap();
    assert_eq!(turn(&mut db, RESOURCE, 9), GateAnswer::Passed);
    db.execute_batch(clean).unwrap();
    assert_eq!(turn(&mut db, RESOURCE, 8), refused(9), "it was worked on a moment ago");
    db.execute_batch(aged).unwrap();
    db.execute_batch(clean).unwrap();
    assert_eq!(turn(&mut db, RESOURCE, 8), GateAnswer::Passed, "it was forgotten");
}

// ===== two holders =====

/// A holder in a thread of its own, that goes one step when it is told to.
struct Holder {
    go: Sender<()>,
    done: Receiver<()>,
    thread: thread::JoinHandle<()>,
}

impl Holder {
    /// Its steps: begin, check, write, commit. It stops where it is refused.
    fn begin(path: PathBuf, fence: u64) -> Self {
        let ((go, told), (tells, done)) = (mpsc::channel(), mpsc::channel());
        let thread = thread::spawn(move || {
            let step = || told.recv().unwrap();
            let mut db = connect(&path);
            step();
            let tx = db.transaction().unwrap();
            tells.send(()).unwrap();
            step();
            let answer = FenceGate::new().check(&tx, RESOURCE, Fence::new(fence)).unwrap();
            tells.send(()).unwrap();
            if answer != GateAnswer::Passed {
                return;
            }
            step();
            write(&tx, fence);
            tells.send(()).unwrap();
            step();
            tx.commit().unwrap();
            tells.send(()).unwrap();
        });
        Self { go, done, thread }
    }

    /// Tells it to go on; it may have to wait for the other one, or have ended.
    fn go(&self) {
        let _ = self.go.send(());
        let _ = self.done.recv_timeout(Duration::from_millis(20));
    }
}

/// All ways in which the four steps of one can fall between the four of the other.
fn interleavings() -> impl Iterator<Item = Vec<bool>> {
    (0_u32..1 << 8)
        .filter(|bits| bits.count_ones() == 4)
        .map(|bits| (0..8).map(|at| bits >> at & 1 == 1).collect())
}

/// HZ-10: however their steps fall, nothing of the older one lands after the newer one's.
#[test]
fn hz10_two_holders_interleaved_at_every_step_never_land_in_the_wrong_order() {
    let mut refusals = 0;
    for order in interleavings() {
        let place = Place::new();
        let older = Holder::begin(place.path(), 7);
        let newer = Holder::begin(place.path(), 8);
        for is_older in &order {
            if *is_older { older.go() } else { newer.go() }
        }
        // Who had to wait goes on now.
        for holder in [&older, &newer, &older, &newer, &older, &newer] {
            holder.go();
        }
        drop((older.go, newer.go));
        older.thread.join().unwrap();
        newer.thread.join().unwrap();
        let written = place.written();
        assert!(written == [7, 8] || written == [8], "{order:?}: {written:?}");
        refusals += usize::from(written == [8]);
    }
    assert!(refusals > 0, "nobody came late, and this shows nothing");
}
