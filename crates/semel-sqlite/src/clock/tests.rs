use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rusqlite::Connection;
use semel_core::{Clock, StoreTime};

use super::machine::Machine;
use super::{RealMachine, Timepiece, anchor};
use crate::schema;

const SECOND: u64 = 1_000_000;
const HOUR: u64 = 3_600 * SECOND;
/// 2026, roughly.
const WALL: u64 = 1_780_000_000 * SECOND;

/// A machine that boots, sleeps and has its clock set as a test wishes.
#[derive(Debug)]
struct FakeMachine {
    boot: Mutex<Option<String>>,
    since_boot: AtomicU64,
    wall: AtomicU64,
}

impl FakeMachine {
    fn booted(boot: &str) -> Arc<Self> {
        Arc::new(Self {
            boot: Mutex::new(Some(boot.to_owned())),
            since_boot: AtomicU64::new(100 * SECOND),
            wall: AtomicU64::new(WALL),
        })
    }

    fn passes(&self, micros: u64) {
        self.since_boot.fetch_add(micros, Ordering::SeqCst);
        self.wall.fetch_add(micros, Ordering::SeqCst);
    }

    fn set_wall(&self, wall: u64) {
        self.wall.store(wall, Ordering::SeqCst);
    }

    fn reboots(&self, boot: &str) {
        *self.boot.lock() = Some(boot.to_owned());
        self.since_boot.store(5 * SECOND, Ordering::SeqCst);
    }
}

impl Machine for FakeMachine {
    fn boot(&self) -> Option<String> {
        self.boot.lock().clone()
    }

    fn since_boot(&self) -> Option<u64> {
        Some(self.since_boot.load(Ordering::SeqCst))
    }

    fn wall(&self) -> u64 {
        self.wall.load(Ordering::SeqCst)
    }
}

fn file() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    schema::migrate(&db, schema::STEPS, 0).unwrap();
    db
}

fn opened(db: &Connection, machine: &Arc<FakeMachine>) -> Arc<dyn Clock> {
    anchor(db, Arc::<FakeMachine>::clone(machine)).unwrap()
}

fn committed_at(db: &Connection, time: StoreTime) {
    let time = i64::try_from(time.as_micros()).unwrap();
    db.execute("UPDATE meta SET last_time = ?1", [time]).unwrap();
}

#[test]
fn the_first_opener_starts_the_clock_at_the_wall_clock() {
    let (db, machine) = (file(), FakeMachine::booted("a"));
    assert_eq!(opened(&db, &machine).now().as_micros(), WALL);
}

#[test]
fn a_wall_clock_that_jumps_either_way_moves_no_clock_of_this_boot() {
    let (db, machine) = (file(), FakeMachine::booted("a"));
    let first = opened(&db, &machine);
    for jump in [WALL + 10 * HOUR, WALL - 10 * HOUR, 0] {
        machine.set_wall(jump);
        machine.passes(SECOND);
        // Those who open now and those who were there agree.
        assert_eq!(opened(&db, &machine).now(), first.now());
    }
    assert_eq!(first.now().as_micros(), WALL + 3 * SECOND);
}

#[test]
fn after_a_boot_the_clock_goes_on_by_the_wall_clock() {
    let (db, machine) = (file(), FakeMachine::booted("a"));
    committed_at(&db, opened(&db, &machine).now());
    machine.passes(HOUR);
    machine.reboots("b");
    assert_eq!(opened(&db, &machine).now().as_micros(), WALL + HOUR);
}

#[test]
fn after_a_boot_with_the_wall_clock_set_back_it_goes_on_from_the_last_time_seen() {
    let (db, machine) = (file(), FakeMachine::booted("a"));
    let last = opened(&db, &machine).now();
    committed_at(&db, last);
    machine.set_wall(0);
    machine.reboots("b");
    let clock = opened(&db, &machine);
    assert_eq!(clock.now(), last);
    machine.passes(SECOND);
    assert_eq!(clock.now().as_micros(), last.as_micros() + SECOND);
}

#[test]
fn only_the_first_after_a_boot_asks_the_wall_clock() {
    let (db, machine) = (file(), FakeMachine::booted("a"));
    opened(&db, &machine);
    machine.reboots("b");
    let first = opened(&db, &machine);
    machine.set_wall(WALL + HOUR);
    assert_eq!(opened(&db, &machine).now(), first.now());
    assert_eq!(first.now().as_micros(), WALL);
}

#[test]
fn without_a_boot_id_the_wall_clock_serves_and_never_goes_back() {
    let (db, machine) = (file(), FakeMachine::booted("a"));
    *machine.boot.lock() = None;
    let clock = Timepiece::new(opened(&db, &machine));
    let before = clock.now();
    machine.set_wall(WALL - HOUR);
    assert_eq!(clock.now(), before);
    machine.set_wall(WALL + HOUR);
    assert_eq!(clock.now().as_micros(), WALL + HOUR);
}

#[test]
fn a_timepiece_is_never_before_what_the_file_has_seen() {
    let machine = FakeMachine::booted("a");
    let clock = Timepiece::new(opened(&file(), &machine));
    let seen = StoreTime::from_micros(WALL + HOUR);
    clock.no_earlier_than(seen);
    assert_eq!(clock.now(), seen);
}

#[cfg(target_os = "linux")]
#[test]
fn the_real_machine_names_its_boot_and_counts_from_it() {
    let boot = RealMachine.boot().unwrap();
    assert_eq!(Some(boot), RealMachine.boot());
    let before = RealMachine.since_boot().unwrap();
    assert!(before > 0 && RealMachine.since_boot().unwrap() >= before);
    // Later than 2020: the wall clock is not some other count.
    assert!(RealMachine.wall() > 1_577_836_800 * SECOND);
}
