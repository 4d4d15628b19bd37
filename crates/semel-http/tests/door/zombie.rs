//! Owners that come late: their lease is over, and another took their place.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use axum::body::Body;
use http::{Response, StatusCode};
use semel::{Code, InFlight, Once};
use tokio::sync::oneshot;

use crate::support::door::created;
use crate::support::store::Ruled;
use crate::support::{Answer, Door, order, policy, until};
use semel::timer::sleep;

const LEASE: Duration = Duration::from_millis(200);

type Go = oneshot::Sender<StatusCode>;

/// Each run waits until the test says how it ends. Leases last for 200 ms and can't be renewed.
fn slow(in_flight: InFlight) -> (Door, Arc<Mutex<Vec<Option<Go>>>>) {
    let goes: Arc<Mutex<Vec<Option<Go>>>> = Arc::default();
    let told = Arc::clone(&goes);
    let policy = policy(|policy| policy.in_progress_time_to_live(LEASE).in_flight(in_flight));
    let once = Once::new(Ruled::without_renewal());
    let door = Door::with(
        once,
        |layer| layer.policy(policy),
        move |asked| {
            let (go, goes) = oneshot::channel();
            told.lock().unwrap().push(Some(go));
            async move {
                let mut answer = created(asked.run);
                *answer.status_mut() = goes.await?;
                Ok(answer)
            }
        },
    );
    (door, goes)
}

fn sent(door: &Door) -> tokio::task::JoinHandle<Answer> {
    let (door, order) = (door.clone(), order("k", "{}"));
    tokio::spawn(async move { door.send(order).await })
}

/// A is at work, its lease ends, B takes over and is at work too.
async fn a_and_b(door: &Door) -> [tokio::task::JoinHandle<Answer>; 2] {
    let a = sent(door);
    until(|| door.runs.count() == 1).await;
    sleep(LEASE).await;
    let b = sent(door);
    until(|| door.runs.count() == 2).await;
    [a, b]
}

fn ends(goes: &Mutex<Vec<Option<Go>>>, run: usize, status: StatusCode) {
    let go = goes.lock().unwrap()[run - 1].take().unwrap();
    go.send(status).unwrap();
}

/// A3-Z1: late A must not overwrite what B recorded, and its own caller must not be given an
/// answer that nobody else will get.
#[tokio::test(start_paused = true)]
async fn a3_z1_a_late_success_changes_nothing_and_all_get_the_one_answer() {
    let (door, goes) = slow(InFlight::Reject);
    let [a, b] = a_and_b(&door).await;
    ends(&goes, 2, StatusCode::CREATED);
    let b = b.await.unwrap();
    b.assert_is_the_handlers(201, "order 2");
    ends(&goes, 1, StatusCode::CREATED);
    let a = a.await.unwrap();
    assert_eq!(a.essence(), b.essence());
    assert!(a.is_marked(), "it is B's answer that A's caller gets");
    for _ in 0..3 {
        assert_eq!(door.post("k", "{}").await.essence(), b.essence());
    }
    assert_eq!(door.runs.count(), 2);
}

/// A3-Z2: late A fails, and must not delete what B recorded.
#[tokio::test(start_paused = true)]
async fn a3_z2_a_late_failure_deletes_nothing() {
    for status in [StatusCode::SERVICE_UNAVAILABLE, StatusCode::INTERNAL_SERVER_ERROR] {
        let (door, goes) = slow(InFlight::Reject);
        let [a, b] = a_and_b(&door).await;
        ends(&goes, 2, StatusCode::CREATED);
        let b = b.await.unwrap();
        ends(&goes, 1, status);
        assert_eq!(a.await.unwrap().status, status);
        for _ in 0..3 {
            let again = door.post("k", "{}").await;
            assert_eq!(again.essence(), b.essence());
            assert!(again.is_marked());
        }
        assert_eq!(door.runs.count(), 2);
    }
}

/// The same of an owner that panics late.
#[tokio::test(start_paused = true)]
async fn a3_z2_a_late_exception_deletes_nothing() {
    let (door, goes) = slow(InFlight::Reject);
    let [a, b] = a_and_b(&door).await;
    ends(&goes, 2, StatusCode::CREATED);
    let b = b.await.unwrap();
    // Its channel closes: the handler fails.
    drop(goes.lock().unwrap()[0].take());
    assert!(a.await.is_err());
    assert_eq!(door.post("k", "{}").await.essence(), b.essence());
    assert_eq!(door.runs.count(), 2);
}

/// A comes late while B still works: A's caller waits for B like everybody else.
#[tokio::test(start_paused = true)]
async fn a_late_owner_waits_for_whoever_took_over() {
    let (door, goes) = slow(InFlight::Wait(Duration::from_millis(150)));
    let [a, b] = a_and_b(&door).await;
    ends(&goes, 1, StatusCode::CREATED);
    sleep(Duration::from_millis(50)).await;
    assert!(!a.is_finished());
    ends(&goes, 2, StatusCode::CREATED);
    let (a, b) = (a.await.unwrap(), b.await.unwrap());
    assert_eq!(a.essence(), b.essence());
    a.assert_is_the_handlers(201, "order 2");
}

/// And is told so where that takes too long.
#[tokio::test(start_paused = true)]
async fn a_late_owner_is_told_that_another_is_at_work() {
    let (door, goes) = slow(InFlight::Reject);
    let [a, b] = a_and_b(&door).await;
    ends(&goes, 1, StatusCode::CREATED);
    a.await.unwrap().assert_is(Code::InProgress);
    ends(&goes, 2, StatusCode::CREATED);
    b.await.unwrap().assert_is_the_handlers(201, "order 2");
    assert!(door.post("k", "{}").await.is_marked());
}

/// Nobody took over: late is then only slow.
#[tokio::test(start_paused = true)]
async fn a_late_owner_whose_place_nobody_took_is_recorded() {
    let (door, goes) = slow(InFlight::Reject);
    let a = sent(&door);
    until(|| door.runs.count() == 1).await;
    sleep(10 * LEASE).await;
    ends(&goes, 1, StatusCode::CREATED);
    a.await.unwrap().assert_is_the_handlers(201, "order 1");
    let again = door.post("k", "{}").await;
    again.assert_is_the_handlers(201, "order 1");
    assert!(again.is_marked());
}

/// A lease that is renewed is not over: work of many leases runs once.
#[tokio::test(start_paused = true)]
async fn work_of_many_leases_runs_once_while_it_is_renewed() {
    let policy = policy(|policy| {
        policy.in_progress_time_to_live(LEASE).in_flight(InFlight::Wait(Duration::from_secs(60)))
    });
    let change = |layer: semel_http::IdempotencyLayer| layer.policy(policy);
    let door = Door::with(crate::support::once(), change, |asked| async move {
        sleep(100 * LEASE).await;
        Ok(Response::builder().status(201).body(Body::from(format!("order {}", asked.run)))?)
    });
    let calls: Vec<_> = (0..5).map(|_| sent(&door)).collect();
    for call in calls {
        call.await.unwrap().assert_is_the_handlers(201, "order 1");
    }
    assert_eq!(door.runs.count(), 1);
}
