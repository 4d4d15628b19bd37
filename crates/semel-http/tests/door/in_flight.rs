//! The first call still runs.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Response;
use semel::timer::sleep;
use semel::{Begun, Call, Code, InFlight, Once, Operation, Policy, RetryAfter};
use semel_http::IdempotencyLayer;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::support::clocks::{Passed, Stopwatch};
use crate::support::door::created;
use crate::support::store::Ruled;
use crate::support::{Answer, Door, alice, let_all_run, once, order, policy, until};

const SECOND: Duration = Duration::from_secs(1);

/// Runs until the test opens the gate.
fn gated(once: Once, policy: Arc<Policy>) -> (Door, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let work = Arc::clone(&gate);
    let change = |layer: IdempotencyLayer| layer.policy(policy);
    let door = Door::with(once, change, move |asked| {
        let gate = Arc::clone(&work);
        async move {
            gate.acquire().await?.forget();
            Ok(created(asked.run))
        }
    });
    (door, gate)
}

fn sent(door: &Door, key: &str, body: &'static str) -> tokio::task::JoinHandle<Answer> {
    let (door, order) = (door.clone(), order(key, body));
    tokio::spawn(async move { door.send(order).await })
}

async fn running(door: &Door, runs: u32) {
    until(|| door.runs.count() == runs).await;
}

/// I2, S2: whose first try still runs gets its answer, not an error.
#[tokio::test(start_paused = true)]
async fn i2_s2_a_repeat_waits_and_gets_the_first_answer() {
    let (door, gate) = gated(once(), policy(|policy| policy));
    let first = sent(&door, "k", "{}");
    running(&door, 1).await;
    let second = sent(&door, "k", "{}");
    sleep(4 * SECOND).await;
    assert!(!second.is_finished());
    let opened = Passed::since_now();
    gate.add_permits(1);
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(first.essence(), second.essence());
    assert!(!first.is_marked() && second.is_marked());
    assert!(opened.time() < Duration::from_millis(50), "it is woken, it does not poll");
    assert_eq!(door.runs.count(), 1);
}

/// A failed first call is nothing to wait for: one of those that wait takes its place.
#[tokio::test(start_paused = true)]
async fn where_the_first_call_fails_one_of_those_that_wait_runs() {
    let door = Door::with(
        once(),
        |layer| layer,
        |asked| async move {
            sleep(SECOND).await;
            if asked.run == 1 {
                return Ok(Response::builder().status(503).body(Body::empty()).unwrap());
            }
            Ok(created(asked.run))
        },
    );
    let first = sent(&door, "k", "{}");
    running(&door, 1).await;
    let waiting: Vec<_> = (0..5).map(|_| sent(&door, "k", "{}")).collect();
    assert_eq!(first.await.unwrap().status.as_u16(), 503);
    for waiting in waiting {
        waiting.await.unwrap().assert_is_the_handlers(201, "order 2");
    }
    assert_eq!(door.runs.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn after_the_wait_a_repeat_is_told_when_to_come_back() {
    let (door, gate) = gated(once(), policy(|policy| policy));
    let first = sent(&door, "k", "{}");
    running(&door, 1).await;
    let began = Passed::since_now();
    let told = door.post("k", "{}").await;
    told.assert_is(Code::InProgress);
    assert_eq!(began.time().as_secs(), 5, "the default wait");
    assert_eq!(told.header("retry-after"), Some("5"));
    assert_eq!(told.json()["params"]["retryAfter"], 5);
    assert_eq!(told.json()["sameKey"], true);
    gate.add_permits(1);
    first.await.unwrap();
    assert!(door.post("k", "{}").await.is_marked(), "coming back with the same key was right");
}

#[tokio::test(start_paused = true)]
async fn a_repeat_may_be_rejected_at_once() {
    let (door, gate) = gated(once(), policy(|policy| policy.in_flight(InFlight::Reject)));
    let first = sent(&door, "k", "{}");
    running(&door, 1).await;
    let began = Passed::since_now();
    door.post("k", "{}").await.assert_is(Code::InProgress);
    assert!(began.time().is_zero());
    gate.add_permits(1);
    first.await.unwrap().assert_is_the_handlers(201, "order 1");
}

/// S3: a constant is wrong where the lease ends sooner, and where there is none it says nothing.
#[tokio::test(start_paused = true)]
async fn s3_retry_after_is_what_is_left_of_the_lease_where_that_is_less() {
    let reject = |retry_after, lease| {
        policy(|policy| {
            policy
                .in_flight(InFlight::Reject)
                .retry_after(retry_after)
                .in_progress_time_to_live(lease)
        })
    };
    let five = RetryAfter::default();
    let minute = RetryAfter::AtMost(60 * SECOND);
    for (retry_after, lease, passed, expected) in [
        (five, 60 * SECOND, Duration::ZERO, Some("5")),
        (five, 60 * SECOND, 58 * SECOND, Some("2")),
        (five, 60 * SECOND, Duration::from_millis(57_900), Some("3")),
        (five, 60 * SECOND, Duration::from_millis(59_999), Some("1")),
        (minute, 60 * SECOND, 10 * SECOND, Some("50")),
        (RetryAfter::Off, 60 * SECOND, Duration::ZERO, None),
    ] {
        let policy = reject(retry_after, lease);
        let door = Door::counting(once(), |layer| layer.policy(policy.clone()));
        // Held by an owner that does not renew: a process that died.
        let operation = Operation::new("POST /orders").unwrap();
        let call = Call::new(&policy, &alice(), "k", operation).unwrap();
        let Begun::Fresh(claim) = door.once.begin(&call).await else { panic!("it is free") };
        drop(claim);
        sleep(passed).await;
        let told = door.post("k", "{}").await;
        told.assert_is(Code::InProgress);
        assert_eq!(told.header("retry-after"), expected, "{passed:?} of {lease:?}");
        let param = &told.json()["params"]["retryAfter"];
        assert_eq!(param.as_u64().map(|s| s.to_string()).as_deref(), expected);
    }
}

/// P5, N4, C4: a process that died blocks its key for a lease, not for as long as answers are
/// remembered.
#[tokio::test(start_paused = true)]
async fn p5_n4_c4_the_key_of_a_dead_owner_is_usable_after_its_lease() {
    let patient = policy(|policy| policy.in_flight(InFlight::Wait(120 * SECOND)));
    let door = Door::counting(once(), |layer| layer.policy(patient));
    let operation = Operation::new("POST /orders").unwrap();
    let call = Call::new(&door.once.default_policy(), &alice(), "k", operation).unwrap();
    let Begun::Fresh(claim) = door.once.begin(&call).await else { panic!("it is free") };
    drop(claim);
    let began = Passed::since_now();
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    assert_eq!(began.time().as_secs(), 60, "the default lease");
}

// ===== Many =====

/// D1, N6: concurrent duplicates all ran.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d1_n6_of_two_hundred_at_once_one_runs_and_all_get_its_answer() {
    let door = Door::with(
        once(),
        |layer| layer,
        |asked| async move {
            tokio::task::yield_now().await;
            Ok(created(asked.run))
        },
    );
    for round in 0..20 {
        let key = format!("k-{round}");
        let barrier = Arc::new(tokio::sync::Barrier::new(200));
        let mut calls = JoinSet::new();
        for _ in 0..200 {
            let (door, order, barrier) = (door.clone(), order(&key, "{}"), barrier.clone());
            calls.spawn(async move {
                barrier.wait().await;
                door.send(order).await
            });
        }
        let answers = calls.join_all().await;
        let first = answers.iter().find(|answer| !answer.is_marked()).unwrap();
        assert!(answers.iter().all(|answer| answer.essence() == first.essence()));
        assert_eq!(answers.iter().filter(|answer| !answer.is_marked()).count(), 1);
        assert_eq!(door.runs.count(), round + 1);
    }
    until(|| (door.once.held(), door.once.watched()) == (0, 0)).await;
}

/// P10: a thousand at once, each with a key of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn p10_a_thousand_keys_at_once_do_not_get_in_each_others_way() {
    let door = Door::counting(once(), |layer| layer);
    let mut calls = JoinSet::new();
    for n in 0..1_000 {
        let door = door.clone();
        calls.spawn(async move {
            let key = format!("k-{n}");
            let first = door.send(order(&key, key.clone())).await;
            let again = door.send(order(&key, key.clone())).await;
            assert_eq!(first.essence(), again.essence());
            first.text().to_owned()
        });
    }
    let mut answers = calls.join_all().await;
    answers.sort_unstable();
    answers.dedup();
    assert_eq!((answers.len(), door.runs.count()), (1_000, 1_000));
}

/// Q3, S8: ten thousand that wait share one watch, hold no connection, and are all answered.
#[tokio::test(start_paused = true)]
async fn q3_s8_ten_thousand_that_wait_are_answered_within_a_second_of_the_end() {
    const MANY: usize = 10_000;
    let store = Ruled::counting();
    let patient =
        policy(|policy| policy.max_waiters_per_key(MANY).in_flight(InFlight::Wait(60 * SECOND)));
    let (door, gate) = gated(Once::new(store.clone()), patient);
    let first = sent(&door, "k", "{}");
    running(&door, 1).await;
    let waiting: Vec<_> = (0..MANY).map(|_| sent(&door, "k", "{}")).collect();
    // Each has asked once; from here on they only wait.
    until(|| store.swaps() == 1 + MANY as u64).await;
    let_all_run().await;
    let (swaps, reads, hints) = (store.swaps(), store.reads(), store.hints());
    assert!(reads + hints < 50, "one watch for all: {reads} reads, {hints} hints");
    assert_eq!(door.once.watched(), 1);
    let began = Passed::since_now();
    let stopwatch = Stopwatch::start();
    gate.add_permits(1);
    let first = first.await.unwrap();
    for waiting in waiting {
        let answer = waiting.await.unwrap();
        assert_eq!(answer.essence(), first.essence());
        assert!(answer.is_marked());
    }
    assert!(began.time().is_zero(), "all are woken, none has to poll");
    // An unoptimized build on a busy machine is given more time than a service would take.
    let limit = if cfg!(debug_assertions) { 10 * SECOND } else { SECOND };
    assert!(stopwatch.time() < limit, "{:?}", stopwatch.time());
    assert_eq!(store.swaps(), swaps + 1, "the record, and nothing of theirs");
    assert!(store.reads() - reads < 10, "one read for all");
    assert_eq!(door.runs.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn more_that_wait_than_may_are_told_at_once() {
    let few = policy(|policy| policy.max_waiters_per_key(3));
    let (door, gate) = gated(once(), few);
    let first = sent(&door, "k", "{}");
    running(&door, 1).await;
    let waiting: Vec<_> = (0..3).map(|_| sent(&door, "k", "{}")).collect();
    let_all_run().await;
    let began = Passed::since_now();
    let told = door.post("k", "{}").await;
    told.assert_is(Code::InProgress);
    assert_eq!(told.header("retry-after"), Some("5"));
    assert!(began.time().is_zero());
    // Another key has places of its own.
    let other = sent(&door, "other", "{}");
    running(&door, 2).await;
    gate.add_permits(2);
    for call in waiting.into_iter().chain([first]) {
        call.await.unwrap().assert_is_the_handlers(201, "order 1");
    }
    other.await.unwrap().assert_is_the_handlers(201, "order 2");
}

/// R10: one that waits and goes away neither cancels the call nor keeps its place.
#[tokio::test(start_paused = true)]
async fn r10_who_stops_waiting_leaves_the_call_alone() {
    let (door, gate) = gated(once(), policy(|policy| policy));
    let first = sent(&door, "k", "{}");
    running(&door, 1).await;
    let leaves = sent(&door, "k", "{}");
    let stays = sent(&door, "k", "{}");
    let_all_run().await;
    leaves.abort();
    sleep(SECOND).await;
    gate.add_permits(1);
    first.await.unwrap().assert_is_the_handlers(201, "order 1");
    stays.await.unwrap().assert_is_the_handlers(201, "order 1");
    assert_eq!(door.runs.count(), 1);
    sleep(SECOND).await;
    assert_eq!((door.once.held(), door.once.watched(), door.once.tasks().len()), (0, 0, 0));
}
