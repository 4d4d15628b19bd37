//! The process is killed at each of twelve points of a call, twenty times: rows and record always
//! agree, and a retry books exactly once in all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use semel_core::cocommit::Began;
use semel_sqlite::{SqliteStore, Transactional};
use support::*;

/// Where the process is killed. `…_under_way`: a moment after the step began, a little later each
/// time.
const POINTS: [&str; 12] = [
    "before_begin",
    "begin_under_way",
    "after_begin",
    "first_row_under_way",
    "between_the_rows",
    "second_row_under_way",
    "after_the_rows",
    "commit_just_begun",
    "commit_under_way",
    "commit_nearly_done",
    "after_commit",
    "after_a_replay",
];
const TIMES: u64 = 20;

const POINT: &str = "SEMEL_TEST_KILLED_AT";
const KEY: &str = "SEMEL_TEST_KEY";
const FILE: &str = "SEMEL_TEST_FILE";
const DELAY: &str = "SEMEL_TEST_DELAY_US";

#[tokio::test]
async fn a_process_killed_at_any_point_leaves_rows_and_record_that_agree() {
    // The process to be killed is this one, started anew.
    if let Ok(point) = env::var(POINT) {
        victim(&point).await;
        unreachable!("{point} must have killed it");
    }
    let shop = shop().await;
    assert!(shop.store.stats().commits < 10, "a fresh store");
    let file = shop.directory.path().join("store.db");
    let mut committed = [0; POINTS.len()];
    for (number, point) in POINTS.iter().enumerate() {
        for round in 0..TIMES {
            let at = format!("{point}:{round}");
            kill_one(&file, point, round, &at);
            committed[number] += check(&shop, &file, &at);
        }
    }
    let seen: Vec<_> = POINTS.iter().zip(committed).collect();
    assert_eq!(committed[..7], [0; 7], "nothing is committed before the commit: {seen:?}");
    assert_eq!(committed[10..], [20, 20], "what was acknowledged is there: {seen:?}");
    // Else no kill fell into a commit, and nothing was shown.
    let through: u32 = committed[7..10].iter().sum();
    assert!((1..60).contains(&through), "some commits must be cut short, some not: {seen:?}");
}

// ===== the process to be killed =====

async fn victim(point: &str) {
    let at = env::var(KEY).unwrap();
    let store = SqliteStore::open(env::var(FILE).unwrap()).await.unwrap();
    let transactional = Transactional::new(&store);
    let db = transactional.connect().unwrap();
    let die = |here: &str| {
        if here == point {
            kill_self();
        }
    };
    let soon = |here: &str| {
        if here == point {
            kill_later();
        }
    };
    die("before_begin");
    soon("begin_under_way");
    let work = fresh(transactional.begin(&db, &call(&at)).unwrap());
    rest_if(point == "begin_under_way");
    die("after_begin");
    soon("first_row_under_way");
    first_row(&db, &at);
    rest_if(point == "first_row_under_way");
    die("between_the_rows");
    soon("second_row_under_way");
    second_row(&db, &at);
    rest_if(point == "second_row_under_way");
    die("after_the_rows");
    soon("commit_just_begun");
    soon("commit_under_way");
    soon("commit_nearly_done");
    work.commit(outcome("booked")).unwrap();
    rest_if(point.starts_with("commit_"));
    die("after_commit");
    replayed(transactional.begin(&db, &call(&at)).unwrap());
    die("after_a_replay");
}

fn kill_self() -> ! {
    let status = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
    panic!("it must be dead: {status:?}");
}

/// Kills this process after the delay, from another thread.
fn kill_later() {
    let delay: u64 = env::var(DELAY).unwrap().parse().unwrap();
    thread::spawn(move || {
        pause(Duration::from_micros(delay));
        kill_self();
    });
}

fn rest_if(waits: bool) {
    if waits {
        pause(Duration::from_secs(60));
    }
}

#[expect(clippy::disallowed_methods, reason = "the moment of a kill is real time")]
fn pause(time: Duration) {
    thread::sleep(time);
}

// ===== who watches =====

fn kill_one(file: &Path, point: &str, round: u64, at: &str) {
    let delay = match point {
        "commit_under_way" => 300 + round * 100,
        "commit_nearly_done" => 2_000 + round * round * 400,
        _ => round * 40,
    };
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_process_killed_at_any_point_leaves_rows_and_record_that_agree"])
        .env(POINT, point)
        .env(KEY, at)
        .env(FILE, file)
        .env(DELAY, delay.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(9), "{point} must have killed it: {said}");
}

/// Rows and record agree, and a retry books once in all. Says whether it was committed before.
fn check(shop: &Shop, file: &Path, at: &str) -> u32 {
    let rows = booked(file, at);
    assert_eq!(rows == 1, is_recorded(file, at), "{at}: rows and record must agree");
    let db = shop.transactional.connect().unwrap();
    match shop.transactional.begin(&db, &call(at)).unwrap() {
        Began::Fresh(work) => {
            assert_eq!(rows, 0, "{at}: what was booked must not be booked again");
            book(work.connection(), at);
            work.commit(outcome("booked")).unwrap();
        }
        began => assert_eq!(replayed(began), "booked", "{at}"),
    }
    assert_eq!(booked(file, at), 1, "{at}: one booking in all");
    rows
}
