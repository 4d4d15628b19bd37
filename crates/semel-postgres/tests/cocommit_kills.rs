//! The process is killed at each of twelve points of a call, twenty times: rows and record always
//! agree, and a retry books exactly once in all.

mod support;

use std::env;
use std::future::poll_fn;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use semel_core::cocommit::Began;
use semel_postgres::{PostgresStore, Transactional};
use semel_testkit::{PostgresServer, eventually};
use support::cocommit::*;
use support::*;
use tokio_postgres::Client;

/// Where the process is killed. `…_sent`: the statement is on its way, its answer is not waited
/// for, and the kill comes a little later each time.
const POINTS: [&str; 12] = [
    "before_begin",
    "begin_sent",
    "after_begin",
    "claim_sent",
    "after_claim",
    "between_the_rows",
    "second_row_sent",
    "after_the_rows",
    "outcome_sent",
    "after_outcome",
    "commit_sent",
    "after_commit",
];
const TIMES: u32 = 20;
/// How many processes run at the same time.
const AT_ONCE: u32 = 4;

const POINT: &str = "SEMEL_TEST_KILLED_AT";
const KEY: &str = "SEMEL_TEST_KEY";
const URL: &str = "SEMEL_TEST_URL";
const DELAY: &str = "SEMEL_TEST_DELAY_US";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_killed_at_any_point_leaves_rows_and_record_that_agree() {
    // The process to be killed is this one, started anew.
    if let Ok(point) = env::var(POINT) {
        victim(&point).await;
        unreachable!("{point} must have killed it");
    }
    let server = PostgresServer::launch().await.expect("a server");
    server.sql(TABLES).await.expect("tables");
    let store = open(&server).await;
    let mut committed = [0; POINTS.len()];
    for (number, point) in POINTS.iter().enumerate() {
        for first in (0..TIMES).step_by(AT_ONCE as usize) {
            let rounds = first..first + AT_ONCE;
            join_all(rounds.clone().map(|round| kill_one(&server, point, round))).await;
            gone(&server).await;
            for round in rounds {
                committed[number] += check(&server, &store, &format!("{point}:{round}")).await;
            }
        }
    }
    let seen: Vec<_> = POINTS.iter().zip(committed).collect();
    assert_eq!(committed[..10], [0; 10], "nothing is committed before the commit: {seen:?}");
    assert_eq!(committed[11], TIMES, "what was acknowledged is there: {seen:?}");
    assert!(committed[10] > 0, "some that were not acknowledged must be there too: {seen:?}");
}

// ===== the process to be killed =====

async fn victim(point: &str) {
    let at = env::var(KEY).expect("a key");
    let url = env::var(URL).expect("a url");
    // Nothing of the store's own is needed but its statements.
    let store = PostgresStore::open(&url).await.expect("a store");
    let transactional = Transactional::new(&store);
    let client = client_of(&format!("{url}&application_name=victim")).await;
    let die = |here: &str| {
        if here == point {
            kill_self()
        }
    };
    let sent = |here: &str| here == point;

    die("before_begin");
    step(sent("begin_sent"), client.batch_execute("BEGIN")).await.expect("a transaction");
    die("after_begin");
    let call = call(&at);
    let began = step(sent("claim_sent"), transactional.claim_in(&client, &call)).await;
    let claimed = fresh(began.expect("a claim"));
    die("after_claim");
    client.query_one(FIRST_LEG, &[&at]).await.expect("a row");
    die("between_the_rows");
    let row = second_row(&client, &at);
    step(sent("second_row_sent"), row).await;
    die("after_the_rows");
    let record = transactional.record_in(&client, &claimed, outcome("booked"));
    step(sent("outcome_sent"), record).await.expect("a record");
    die("after_outcome");
    step(sent("commit_sent"), client.batch_execute("COMMIT")).await.expect("a commit");
    die("after_commit");
}

async fn second_row(client: &Client, at: &str) {
    client.execute(SECOND_LEG, &[&at]).await.expect("a row");
}

/// Takes a step; or begins it, lets its statement go out, and ends the process.
async fn step<T>(killed: bool, work: impl Future<Output = T>) -> T {
    if !killed {
        return work.await;
    }
    let mut work = pin!(work);
    poll_fn(|cx| {
        let _ = work.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
    let delay: u64 = env::var(DELAY).expect("a delay").parse().expect("a number");
    semel_testkit::pass(Duration::from_micros(delay)).await;
    kill_self();
}

fn kill_self() -> ! {
    let status = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
    panic!("it must be dead: {status:?}");
}

// ===== who watches =====

async fn kill_one(server: &PostgresServer, point: &str, round: u32) {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command
        .args(["--exact", "a_process_killed_at_any_point_leaves_rows_and_record_that_agree"])
        .env(POINT, point)
        .env(KEY, format!("{point}:{round}"))
        .env(URL, server.url())
        // From at once to longer than a commit takes.
        .env(DELAY, (round * round * 100).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.expect("no panic").expect("a process");
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(signal, Some(9), "{point} must have killed it: {said}");
}

/// Waits until the server has noticed.
async fn gone(server: &PostgresServer) {
    let theirs = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'victim'";
    eventually(PATIENCE, "the end of its sessions", || async {
        (server.sql(theirs).await.ok()? == "0").then_some(())
    })
    .await
    .expect("they must end");
}

/// Rows and record agree, and a retry books once in all. Says whether it was committed before.
async fn check(server: &PostgresServer, store: &PostgresStore, at: &str) -> u32 {
    let (rows, record) = (booked(server, at).await, look(store, at).await);
    assert_eq!(rows, u32::from(record.is_some()), "{at}: rows and record must agree");
    let transactional = Transactional::new(store);
    let mut client = client_of(&server.url()).await;
    match transactional.begin(&mut client, &call(at)).await.expect("a begin") {
        Began::Fresh(work) => {
            assert_eq!(rows, 0, "{at}: what was booked must not be booked again");
            book(work.transaction(), at).await;
            work.commit(outcome("booked")).await.expect("a commit");
        }
        began => assert_eq!(replayed(began), "booked", "{at}"),
    }
    assert_eq!(booked(server, at).await, 1, "{at}: one booking in all");
    rows
}
