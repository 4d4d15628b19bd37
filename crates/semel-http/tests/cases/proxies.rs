//! idempotent-proxy. What only a gateway can do wrong (Q6) waits for the gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::Body;
use http::Request;
use semel::core::{Fault, StoreOp};
use semel::timer::{SystemClock, sleep};
use semel::{MemoryStore, Once, Policy};
use semel_http::{HttpSettings, IdempotencyLayer, RequestBody};
use tower::{Layer, ServiceExt, service_fn};

use super::support::{
    App, Latch, Place, created, keyed, once, once_of, order, over, reply, request, until, with,
};

/// An error of the transport left by a way that passed the clean-up by, and the key stayed blocked
/// for its whole retention.
#[tokio::test]
async fn q1_a_service_that_fails_without_an_answer_frees_its_key() {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let inner = service_fn(move |_: Request<RequestBody<Body>>| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move { if number == 0 { Err("connection refused") } else { Ok(reply(201, "made")) } }
    });
    let service = IdempotencyLayer::new(once()).layer(inner);
    let first = service.clone().oneshot(order("k")).await;
    assert_eq!(first.map(|_| ()), Err("connection refused"));
    for _ in 0..2 {
        let answer = service.clone().oneshot(order("k")).await.unwrap();
        assert_eq!(answer.status(), 201);
    }
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}

/// The key stood for itself alone, and another request under it was given the wrong answer.
#[tokio::test]
async fn q2_nothing_but_the_same_request_is_given_the_recorded_answer() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    app.send(keyed("k", request("POST", "/orders/7", "{}"))).await;
    for (other, status) in [
        (request("PUT", "/orders/7", "{}"), 409),
        (request("POST", "/orders/8", "{}"), 409),
        (request("POST", "/orders/7?x", "{}"), 422),
        (request("POST", "/orders/7", "{ }"), 422),
        (with("content-type", "text/csv", request("POST", "/orders/7", "{}")), 422),
    ] {
        assert_eq!(app.send(keyed("k", other)).await.status, status);
    }
    assert_eq!(app.runs(), 1);
}

/// Ten callers who waited for one key held all ten connections to the store, and nobody else got
/// one.
#[tokio::test]
async fn q3_those_who_wait_hold_no_connection_of_the_store() {
    for place in Place::all().await {
        wait_and_hold_nothing(&over(place.open().await, Policy::builder())).await;
    }
}

async fn wait_and_hold_nothing(engine: &Once) {
    let latch = Latch::shut();
    let slow = latch.clone();
    let app = App::new(&IdempotencyLayer::new(engine.clone()), move |run| {
        let slow = slow.clone();
        async move {
            if run.request.uri().path() == "/orders" {
                slow.pass().await;
            }
            created(run).await
        }
    });
    let waiting: Vec<_> = (0..300).map(|_| app.start(order("k"))).collect();
    latch.reached(1).await;
    until(async || engine.watched() == 1).await;
    for number in 2..5 {
        let quick = keyed(&format!("k-{number}"), request("POST", "/notes", "{}"));
        assert_eq!(app.send(quick).await.got(), (201, &*format!("order {number}")));
    }
    latch.open();
    for call in waiting {
        assert_eq!(call.await.unwrap().got(), (201, "order 1"));
    }
}

/// Those who waited slept inside the lock of the store, and the one who was to end their wait could
/// not write.
#[tokio::test(start_paused = true)]
async fn q4_those_who_wait_leave_the_store_to_the_one_who_writes() {
    let fault = Fault::new(MemoryStore::new(SystemClock::new()));
    let engine = over(Arc::new(fault.clone()), Policy::builder());
    let app = App::new(&IdempotencyLayer::new(engine), async |run| {
        sleep(Duration::from_secs(4)).await;
        created(run).await
    });
    let calls: Vec<_> = (0..300).map(|_| app.start(order("k"))).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().got(), (201, "order 1"));
    }
    // One watch for all of them: four seconds of looking now and then, not 300 times that.
    assert!(fault.calls(StoreOp::Read) < 50, "{fault:?}");
    assert_eq!(app.runs(), 1);
}

/// What the first caller asked for in its headers decided what all later ones were shown.
#[tokio::test]
async fn q5_neither_the_first_callers_headers_nor_its_route_decide_what_a_repeat_sees() {
    let engine = once_of(Policy::builder());
    let layer = IdempotencyLayer::new(engine).operation("orders.create");
    let narrow = HttpSettings::builder().replay_marker(None).build().unwrap();
    let (narrow, app) = (App::creating(&layer.clone().settings(narrow)), App::creating(&layer));
    let picky = with("response-headers", "none", order("k"));
    let first = narrow.send(with("x-json-mask", "nothing", picky)).await;
    let again = app.send(order("k")).await;
    assert_eq!((first.got(), again.got()), ((201, "order 1"), (201, "order 1")));
    assert_eq!((again.header("location"), again.is_replay()), ("/orders/1", true));
}
