//! Trackers of the Stripe client libraries.

use std::time::Duration;

use semel::timer::sleep;
use semel::{InFlight, Policy, RetryAfter};
use semel_http::{Failures, HttpSettings, IdempotencyLayer, OnDisconnect};

use super::support::{
    App, Latch, created, keyed, once, once_of, order, over, reply, request, sqlite, until,
};

/// The connection broke, the retry was told "in progress", and the library reported a failure,
/// although the charge went through.
#[tokio::test]
async fn s2_a_retry_after_a_broken_connection_gets_the_first_answer() {
    let (engine, latch) = (once(), Latch::shut());
    let app = App::held(&IdempotencyLayer::new(engine.clone()), &latch);
    let broken = app.start(order("k"));
    latch.reached(1).await;
    broken.abort();
    let retry = app.start(order("k"));
    until(async || engine.watched() == 1).await;
    latch.open();
    let retry = retry.await.unwrap();
    assert_eq!((retry.got(), retry.is_replay()), ((201, "order 1"), true));
    assert_eq!(app.runs(), 1);
}

/// The wait between two tries was the same second each time, and a slow first call used up all of
/// them.
#[tokio::test(start_paused = true)]
async fn s3_retry_after_says_what_is_left_of_the_lease() {
    let policy = Policy::builder()
        .in_progress_time_to_live(Duration::from_secs(30))
        .retry_after(RetryAfter::AtMost(Duration::from_secs(20)))
        .in_flight(InFlight::Reject);
    let settings = HttpSettings::builder().on_disconnect(OnDisconnect::Cancel).build().unwrap();
    let layer = IdempotencyLayer::new(once_of(policy)).settings(settings);
    let latch = Latch::shut();
    let app = App::held(&layer, &latch);
    let first = app.start(order("k"));
    latch.reached(1).await;
    assert_eq!(app.send(order("k")).await.header("retry-after"), "20");
    // Nobody renews it from here.
    first.abort();
    sleep(Duration::from_secs(22)).await;
    assert_eq!(app.send(order("k")).await.header("retry-after"), "8");
    latch.open();
    sleep(Duration::from_secs(8)).await;
    assert_eq!(app.send(order("k")).await.status, 201);
}

/// That a key had been used for other parameters was to be seen from the text of the error only.
#[tokio::test]
async fn s4_a_mismatch_has_a_code_of_its_own() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    app.send(order("k")).await;
    let other = app.send(keyed("k", request("POST", "/orders", "{}"))).await;
    assert_eq!(other.told(), (422, "CACHING_VALIDATION_003"));
    assert_eq!(other.problem("messageKey"), "caching.idempotency.payload_mismatch");
    assert_eq!(other.problem("params"), serde_json::json!({ "differs": ["body"] }));
}

/// A recorded 500 was replayed for ever, so the library did not even try again.
#[tokio::test]
async fn s6_a_transient_error_frees_the_key_and_a_recorded_one_says_that_it_is_a_replay() {
    for (failures, second) in
        [(Failures::FinalBelow500, (201, "order 2", false)), (Failures::All, (503, "later", true))]
    {
        let layer = IdempotencyLayer::new(once()).failures(failures);
        let app = App::new(&layer, async |run| match run.number {
            1 => reply(503, "later"),
            _ => created(run).await,
        });
        assert_eq!(app.send(order("k")).await.got(), (503, "later"));
        let again = app.send(order("k")).await;
        assert_eq!((again.status, again.text(), again.is_replay()), second);
        assert_eq!(again.code(), "");
    }
}

/// "Somebody else holds the lock" was given out as if it were the call's result.
#[tokio::test]
async fn s7_that_a_call_was_in_flight_is_never_its_result() {
    let latch = Latch::shut();
    let layer = IdempotencyLayer::new(once()).in_flight(InFlight::Reject);
    let app = App::held(&layer, &latch);
    let first = app.start(order("k"));
    latch.reached(1).await;
    for _ in 0..5 {
        assert_eq!(app.send(order("k")).await.told(), (409, "CACHING_CONFLICT_002"));
    }
    latch.open();
    assert_eq!(first.await.unwrap().got(), (201, "order 1"));
    assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
}

/// Under many calls at once users were shown errors of the store's own locks.
#[tokio::test]
async fn s8_contention_in_the_store_does_not_reach_callers() {
    let directory = tempfile::tempdir().unwrap();
    let mut apps = Vec::new();
    for _ in 0..2 {
        let engine = over(sqlite(directory.path()).await, Policy::builder());
        apps.push(App::creating(&IdempotencyLayer::new(engine)));
    }
    let calls = (0..60).map(|n| apps[n % 2].start(order(&format!("k-{}", n / 2))));
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().told(), (201, ""));
    }
    assert_eq!(apps[0].runs() + apps[1].runs(), 30);
}

/// What was recorded was what had been delivered, a failure that a layer further out had put in;
/// the retry therefore paid out again.
#[tokio::test]
async fn s10_the_handlers_answer_is_recorded_whatever_outer_layers_make_of_it() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    let failing = app.clone().behind(|_| reply(402, "injected"));
    assert_eq!(failing.send(order("k")).await.got(), (402, "injected"));
    let retry = app.send(order("k")).await;
    assert_eq!((retry.got(), retry.is_replay()), ((201, "order 1"), true));
    assert_eq!(app.runs(), 1);
}
