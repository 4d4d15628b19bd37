//! What is recorded, in which order one is refused, and whose key it is: hono-idempotency,
//! idempot-js, express-idempotency, worldmonitor, idempo.

use http::HeaderValue;
use semel::{InFlight, Scope};
use semel_http::IdempotencyLayer;

use super::support::{App, Latch, alice, bob, created, from, keyed, once, order, request, with};

/// A 409 that meant "somebody else is at it" was recorded as the call's durable answer.
#[tokio::test]
async fn hono_178_a_409_of_a_layer_further_in_is_not_recorded() {
    let latch = Latch::shut();
    let inner = IdempotencyLayer::new(once()).in_flight(InFlight::Reject);
    let inner = App::held(&inner, &latch);
    let within = inner.clone();
    let outer = App::new(&IdempotencyLayer::new(once()), move |run| {
        let within = within.clone();
        async move { within.respond(run.request).await }
    });
    let direct = inner.start(order("k"));
    latch.reached(1).await;
    assert_eq!(outer.send(order("k")).await.told(), (409, "CACHING_CONFLICT_002"));
    latch.open();
    direct.await.unwrap();
    assert_eq!(outer.send(order("k")).await.got(), (201, "order 1"));
    assert_eq!((inner.runs(), outer.runs()), (1, 2));
}

/// Another request under a key in flight was told to wait and come back, in vain.
#[tokio::test]
async fn idempot_js_191_another_request_is_refused_at_once_also_while_the_first_runs() {
    let latch = Latch::shut();
    let app = App::held(&IdempotencyLayer::new(once()), &latch);
    let first = app.start(order("k"));
    latch.reached(1).await;
    let other = app.send(keyed("k", request("POST", "/orders", "{}"))).await;
    assert_eq!(other.told(), (422, "CACHING_VALIDATION_003"));
    latch.open();
    assert_eq!(first.await.unwrap().got(), (201, "order 1"));
}

/// A client sent the header that marks a replay itself, and was taken for one.
#[tokio::test]
async fn express_idempotency_35_nobody_but_the_layer_marks_a_replay() {
    let app = App::new(&IdempotencyLayer::new(once()), async |run| {
        let forged = run.request.headers().get("idempotent-replayed").cloned();
        let mut response = created(run).await;
        response
            .headers_mut()
            .insert("idempotent-replayed", forged.unwrap_or(HeaderValue::from_static("true")));
        response
    });
    let first = app.send(with("idempotent-replayed", "true", order("k"))).await;
    assert_eq!((first.got(), first.is_replay()), ((201, "order 1"), false));
    assert!(app.send(order("k")).await.is_replay());
    assert!(!app.send(order("k-2")).await.is_replay());
}

/// The address of the sender was the scope of its keys, and everybody behind one gateway shared
/// them.
#[tokio::test]
async fn worldmonitor_4728_an_address_is_nobodys_identity() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    let at = |address: &str, who: Scope| from(who, with("x-forwarded-for", address, order("k")));
    assert_eq!(app.send(at("192.0.2.1", alice())).await.text(), "order 1");
    assert_eq!(app.send(at("192.0.2.1", bob())).await.text(), "order 2");
    let moved = app.send(at("198.51.100.7", alice())).await;
    assert_eq!((moved.text(), moved.is_replay()), ("order 1", true));
}

/// Users who were known by a cookie shared each other's answers, for only the `Authorization`
/// header was part of the key.
#[tokio::test]
async fn idempo_29_users_with_cookies_do_not_share_answers() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    let cookie = |value: &str, who: Scope| from(who, with("cookie", value, order("k")));
    assert_eq!(app.send(cookie("session=1", alice())).await.text(), "order 1");
    assert_eq!(app.send(cookie("session=2", bob())).await.text(), "order 2");
    assert!(app.send(cookie("session=3", alice())).await.is_replay());
}
