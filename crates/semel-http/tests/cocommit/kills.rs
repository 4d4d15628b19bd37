//! The process is killed at each of eleven points of a request: rows and record always agree, and
//! a retry books exactly once in all.
//!
//! Five times at each point; twenty times in the long tier of `cargo xtask proof`.

use std::env;
use std::future::poll_fn;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::{Command, Stdio, id};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::routing::post;
use http::StatusCode;
use semel::core::cocommit::{
    Began, Call, Claimed, CommitError, OpenCall, Recorded, TransactionHandle, Transactions,
};
use semel::core::protocol::Completed;
use semel::core::{Store, StoreResult};
use semel::{Once, Outcome};
use semel_testkit::eventually;

use crate::support::{Desk, How, InFile, OnServer, Place, Shop, got, order, transactional_layer};

/// Where it is killed. `…_sent`: it is on its way, its end is not waited for, and the kill comes a
/// little later each time.
const POINTS: [&str; 11] = [
    "before_the_request",
    "begin_sent",
    "after_begin",
    "first_row_sent",
    "between_the_rows",
    "second_row_sent",
    "after_the_rows",
    "before_commit",
    "commit_sent",
    "after_commit",
    "after_the_answer",
];
/// From here on something may be committed, and from there on it must be.
const MAY: usize = 8;
const MUST: usize = 9;

const POINT: &str = "SEMEL_TEST_KILLED_AT";
const KEY: &str = "SEMEL_TEST_KEY";
const PLACE: &str = "SEMEL_TEST_PLACE";
const DELAY: &str = "SEMEL_TEST_DELAY_US";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proof_killed_at_any_point_rows_and_record_agree_on_a_server() {
    if env::var(POINT).is_ok() {
        let url = env::var(PLACE).unwrap();
        victim::<OnServer>(OnServer::open(&url).await).await;
    }
    let name = "kills::proof_killed_at_any_point_rows_and_record_agree_on_a_server";
    let place = OnServer::make().await;
    let url = place.server.url();
    kill_everywhere(place, name, &url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proof_killed_at_any_point_rows_and_record_agree_in_a_file() {
    if env::var(POINT).is_ok() {
        let path = env::var(PLACE).unwrap();
        victim::<InFile>(InFile::open(path.as_ref()).await).await;
    }
    let place = InFile::make().await;
    let path = place.path().into_os_string().into_string().unwrap();
    let name = "kills::proof_killed_at_any_point_rows_and_record_agree_in_a_file";
    kill_everywhere(place, name, &path).await;
}

// ===== the process to be killed =====

async fn victim<P: Place>(transactions: Arc<dyn Transactions>) -> ! {
    let key = env::var(KEY).unwrap();
    let once = Once::with_transactions(Arc::new(Doomed(transactions)));
    let app =
        Router::new().route("/bookings", post(doomed::<P::Tx>)).layer(transactional_layer(once));
    die("before_the_request");
    let answer = got(app, order(&key)).await;
    die("after_the_answer");
    panic!("it must be dead by now: {answer:?}");
}

async fn doomed<T: Desk>(tx: T, key: String) -> String {
    let number = step("first_row_sent", tx.leg(key.clone(), 1)).await.unwrap();
    die("between_the_rows");
    step("second_row_sent", tx.leg(key, 2)).await.unwrap();
    die("after_the_rows");
    format!("booking {number}")
}

/// Transactions in which one dies.
#[derive(Debug)]
struct Doomed(Arc<dyn Transactions>);

#[derive(Debug)]
struct DoomedCall(Box<dyn OpenCall>);

#[async_trait]
impl Transactions for Doomed {
    fn store(&self) -> Arc<dyn Store> {
        self.0.store()
    }

    async fn begin(&self, call: &Call, wait: Duration) -> StoreResult<Began<Box<dyn OpenCall>>> {
        let began = step("begin_sent", self.0.begin(call, wait)).await?;
        die("after_begin");
        Ok(began.map(|open| Box::new(DoomedCall(open)) as Box<dyn OpenCall>))
    }
}

#[async_trait]
impl OpenCall for DoomedCall {
    fn claimed(&self) -> &Claimed {
        self.0.claimed()
    }

    fn handle(&self) -> TransactionHandle {
        self.0.handle()
    }

    async fn commit(
        self: Box<Self>,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Result<Recorded, CommitError> {
        die("before_commit");
        let recorded = step("commit_sent", self.0.commit(outcome, less)).await?;
        die("after_commit");
        Ok(recorded)
    }

    async fn refuse(self: Box<Self>, outcome: Outcome) -> StoreResult<Completed> {
        self.0.refuse(outcome).await
    }

    async fn rollback(self: Box<Self>) -> StoreResult<()> {
        self.0.rollback().await
    }
}

fn is_here(point: &str) -> bool {
    env::var(POINT).unwrap() == point
}

fn die(point: &str) {
    if is_here(point) {
        kill_self();
    }
}

/// Takes a step; or begins it, lets it be under way for a while, and ends the process.
async fn step<T>(point: &str, work: impl Future<Output = T>) -> T {
    if !is_here(point) {
        return work.await;
    }
    let delay: u64 = env::var(DELAY).unwrap().parse().unwrap();
    let mut work = pin!(work);
    let under_way = poll_fn(|cx| work.as_mut().poll(cx).map(drop));
    semel_testkit::within(Duration::from_micros(delay), "a step", under_way).await.ok();
    kill_self();
}

fn kill_self() -> ! {
    let status = Command::new("kill").args(["-9", &id().to_string()]).status();
    panic!("it must be dead: {status:?}");
}

// ===== who watches =====

/// The long tier of the proofs asks for this many cases of each property.
fn times() -> u32 {
    let cases = env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    if cases.is_some_and(|cases: u32| cases >= 100_000) { 20 } else { 5 }
}

async fn kill_everywhere<P: Place>(place: P, test: &'static str, at: &str) {
    let transactions = place.transactions().await;
    let shop = Shop::over(place, transactions, &[How::Books], |layer| layer);
    let mut committed = [0; POINTS.len()];
    for (number, point) in POINTS.iter().enumerate() {
        for round in 0..times() {
            let key = format!("{point}-{round}");
            kill_one(test, at, point, round, &key).await;
            committed[number] += check(&shop, &key).await;
        }
    }
    let seen: Vec<_> = POINTS.iter().zip(committed).collect();
    assert!(committed[..MAY].iter().all(|times| *times == 0), "before the commit: {seen:?}");
    assert!(committed[MUST..].iter().all(|there| *there == times()), "acknowledged: {seen:?}");
}

async fn kill_one(test: &'static str, place: &str, point: &str, round: u32, key: &str) {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", test])
        .env(POINT, point)
        .env(KEY, key)
        .env(PLACE, place)
        // From at once to longer than a commit takes.
        .env(DELAY, (round * round * 100 + round).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(9), "{point} must have killed it: {said}");
}

/// Rows and record agree, and a retry books once in all. Says whether it was committed before.
async fn check<P: Place>(shop: &Shop<P>, key: &str) -> u32 {
    // What the killed process had sent may still be under way: the retry waits for its end.
    let retry = eventually(Duration::from_secs(30), "a retry that is done", || async {
        let retry = shop.send(key).await;
        (retry.status == StatusCode::OK).then_some(retry)
    });
    let retry = retry.await.unwrap();
    shop.assert_done(key, 1).await;
    u32::from(retry.is_replay())
}
