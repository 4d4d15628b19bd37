//! The tracker of the IETF draft on the `Idempotency-Key` header.

use std::sync::Arc;
use std::time::Duration;

use semel::core::{Fault, FaultAction, StoreErrorKind, StoreOp};
use semel::timer::SystemClock;
use semel::{Code, DetectExpired, ErrorStatus, InFlight, MemoryStore, Policy};
use semel_http::{HttpSettings, IdempotencyLayer, Methods, Oversized};

use super::support::{
    Answer, App, Latch, keyed, once, once_of, order, over, reply, request, until,
};

/// A UUIDv7 from 2023.
const OLD_KEY: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// The layer's 422 and 409 looked like the handler's own, and a client could not tell which of
/// the two had refused it.
#[tokio::test]
async fn i1_a_refusal_of_the_layer_and_one_of_the_handler_are_told_apart() {
    let status = ErrorStatus::new(409).unwrap();
    let settings = HttpSettings::builder().status(Code::PayloadMismatch, status).build().unwrap();
    let layer = IdempotencyLayer::new(once()).settings(settings);
    let app = App::new(&layer, async |_| reply(422, "no such product"));
    assert_eq!(app.send(order("k")).await.told(), (422, ""));
    let again = app.send(order("k")).await;
    assert_eq!((again.told(), again.is_replay()), ((422, ""), true));
    let other = app.send(keyed("k", request("POST", "/orders", "{}"))).await;
    assert_eq!(other.told(), (409, "CACHING_VALIDATION_003"));
    assert_eq!(other.header("content-type"), "application/problem+json");
    assert_eq!(other.problem("code"), "CACHING_VALIDATION_003");
}

/// A repeat that came while the first call ran was told to correct itself, although the right
/// answer was on its way and the key was the right one.
#[tokio::test]
async fn i2_a_concurrent_repeat_gets_the_first_answer_or_is_told_when_to_come_back() {
    let (engine, latch) = (once(), Latch::shut());
    let layer = IdempotencyLayer::new(engine.clone());
    let app = App::held(&layer, &latch);
    let hasty = App::creating(&layer.in_flight(InFlight::Reject));
    let first = app.start(order("k"));
    latch.reached(1).await;
    let told = hasty.send(order("k")).await;
    assert_eq!(told.told(), (409, "CACHING_CONFLICT_002"));
    assert_eq!((told.header("retry-after"), told.problem("sameKey")), ("5", true.into()));
    let waiting = app.start(order("k"));
    until(async || engine.watched() == 1).await;
    latch.open();
    let (first, waiting) = (first.await.unwrap(), waiting.await.unwrap());
    assert_eq!((first.got(), waiting.got()), ((201, "order 1"), (201, "order 1")));
    assert_eq!((app.runs(), hasty.runs()), (1, 0));
}

/// Every vendor had statuses and texts of its own, and clients were written for each of them.
#[tokio::test]
async fn i4_each_refusal_has_a_stable_type_and_code() {
    let fault = Fault::new(MemoryStore::new(SystemClock::new()));
    let policy = Policy::builder().detect_expired(DetectExpired::On).in_flight(InFlight::Reject);
    let latch = Latch::shut();
    let layer = IdempotencyLayer::new(over(Arc::new(fault.clone()), policy));
    let app = App::held(&layer, &latch);
    let running = app.start(order("k"));
    latch.reached(1).await;
    let assert_told = |answer: Answer, status: u16, code: &str| {
        assert_eq!(answer.told(), (status, code));
        let uri = answer.problem("type").as_str().unwrap().to_owned();
        assert!(uri.ends_with(code), "{uri}");
        assert_eq!(answer.problem("status"), status);
    };
    let body = r#"{"amount":3}"#;
    assert_told(app.send(request("POST", "/orders", body)).await, 400, "CACHING_VALIDATION_002");
    assert_told(app.send(order("")).await, 400, "CACHING_VALIDATION_001");
    assert_told(app.send(order(OLD_KEY)).await, 400, "CACHING_VALIDATION_004");
    assert_told(app.send(order("k")).await, 409, "CACHING_CONFLICT_002");
    let other = keyed("k", request("POST", "/orders", body));
    assert_told(app.send(other).await, 422, "CACHING_VALIDATION_003");
    fault.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    assert_told(app.send(order("k2")).await, 503, "CACHING_UNAVAILABLE_001");
    latch.open();
    assert_eq!(running.await.unwrap().status, 201);
    assert_eq!(app.runs(), 1);
}

/// Somebody who ordered the same thing twice on purpose, under two keys, was refused the second.
#[tokio::test]
async fn i5_the_same_request_under_a_new_key_is_a_new_call() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    assert_eq!(app.send(order("k-1")).await.got(), (201, "order 1"));
    let second = app.send(order("k-2")).await;
    assert_eq!((second.got(), second.is_replay()), ((201, "order 2"), false));
}

/// Storing whole answers was too heavy for a simple service, which therefore stored nothing.
#[tokio::test]
async fn i8_where_only_the_outcome_is_kept_a_repeat_gets_a_defined_answer() {
    for (oversized, told) in
        [(Oversized::Unavailable, (409, "CACHING_CONFLICT_003")), (Oversized::Status, (201, ""))]
    {
        let settings =
            HttpSettings::builder().max_cached_response(0).oversized(oversized).build().unwrap();
        let app = App::creating(&IdempotencyLayer::new(once()).settings(settings));
        assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
        let again = app.send(order("k")).await;
        assert_eq!((again.told(), app.runs()), (told, 1));
        if oversized == Oversized::Status {
            assert_eq!((again.text(), again.header("location")), ("", "/orders/1"));
        }
    }
}

/// The retry of a DELETE got 404, and its sender thought that the thing had never been there.
#[tokio::test]
async fn i9_a_repeated_delete_gets_the_first_answer_where_deletes_are_covered() {
    let settings = HttpSettings::builder().methods(Methods::Only(vec![http::Method::DELETE]));
    let layer = IdempotencyLayer::new(once()).settings(settings.build().unwrap());
    let app = App::new(&layer, async |run| reply(if run.number == 1 { 204 } else { 404 }, ""));
    let delete = |key| keyed(key, request("DELETE", "/orders/7", ""));
    assert_eq!(app.send(delete("k")).await.status, 204);
    let again = app.send(delete("k")).await;
    assert_eq!((again.status, again.is_replay()), (204, true));
    assert_eq!(app.send(delete("k-2")).await.status, 404);
}

/// A retry came after its key had been forgotten, and was silently carried out a second time.
#[tokio::test(start_paused = true)]
async fn i10_a_key_from_before_the_retention_is_refused_and_not_run() {
    let policy = Policy::builder()
        .detect_expired(DetectExpired::On)
        .time_to_live(Duration::from_secs(3_600));
    let app = App::creating(&IdempotencyLayer::new(once_of(policy)));
    let late = app.send(order(OLD_KEY)).await;
    assert_eq!(late.told(), (400, "CACHING_VALIDATION_004"));
    assert_eq!((late.problem("sameKey"), app.runs()), (false.into(), 0));
    assert_eq!(app.send(order("says-nothing-of-its-age")).await.status, 201);
}
