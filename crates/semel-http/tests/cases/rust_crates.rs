//! Rust crates of the same purpose: cratestack and `idempotent`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderName, HeaderValue, Request};
use semel::core::{Fault, FaultAction, StoreErrorKind, StoreOp};
use semel::timer::{SystemClock, sleep};
use semel::{Begun, Code, InDoubtPolicy, InFlight, MemoryStore, Policy, Scope};
use semel_http::{Anonymous, HttpSettings, IdempotencyLayer};
use tower::buffer::Buffer;
use tower::limit::ConcurrencyLimit;
use tower::{BoxError, ServiceExt, service_fn};

use super::support::{
    App, Latch, bytes, call, created, fresh, once, once_of, order, over, refused, reply, until,
    with,
};

/// All callers whose identity was not known shared one space of keys, and so each other's answers.
#[tokio::test]
async fn c1_callers_without_identity_are_refused_unless_sharing_is_asked_for() {
    let nobody = |key| {
        let mut request = order(key);
        request.extensions_mut().remove::<Scope>();
        request
    };
    let layer = IdempotencyLayer::new(once());
    let app = App::creating(&layer);
    assert_eq!((app.send(nobody("k")).await.status, app.runs()), (500, 0));
    let shared = App::creating(&layer.anonymous(Anonymous::Shared));
    assert_eq!(shared.send(order("k")).await.got(), (201, "order 1"));
    assert_eq!(shared.send(nobody("k")).await.got(), (201, "order 2"));
    assert!(shared.send(nobody("k")).await.is_replay());
}

/// An answer that was streamed could not be buffered, so the layer let it pass, freed the key, and
/// the retry ran again.
#[tokio::test]
async fn c2_after_a_stream_that_is_too_long_to_keep_the_work_never_runs_again() {
    let settings = HttpSettings::builder().max_cached_response(1_000).build().unwrap();
    let layer = IdempotencyLayer::new(once()).settings(settings);
    let app = App::new(&layer, async |_| {
        let pieces = (0..50).map(|_| Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 100])));
        reply(200, Body::from_stream(stream::iter(pieces)))
    });
    assert_eq!(app.send(order("k")).await.body.len(), 5_000);
    assert_eq!(app.send(order("k")).await.told(), (409, "CACHING_CONFLICT_003"));
    assert_eq!(app.runs(), 1);
}

/// One number said both how long a crashed call blocked its key and how long a finished one was
/// remembered.
#[tokio::test(start_paused = true)]
async fn c4_how_long_a_crash_blocks_and_how_long_an_answer_is_kept_are_two_numbers() {
    let once = once_of(Policy::builder().in_flight(InFlight::Reject));
    let call = call(&once, "k");
    drop(fresh(&once, &call).await);
    sleep(Duration::from_secs(60)).await;
    let mut claim = fresh(&once, &call).await;
    let _ = claim.record(bytes("kept")).await;
    sleep(Duration::from_secs(86_399)).await;
    assert!(matches!(once.begin(&call).await, Begun::Replay(_)));
    sleep(Duration::from_secs(1)).await;
    fresh(&once, &call).await.release().await;
}

/// The store failed as the answer was to be written, nobody noticed, and after the lease the work
/// ran again.
#[tokio::test(start_paused = true)]
async fn c5_an_answer_that_the_store_did_not_take_is_tried_again_and_the_caller_is_told() {
    let fault = Fault::new(MemoryStore::new(SystemClock::new()));
    fault.next(StoreOp::Swap, FaultAction::Pass);
    for _ in 0..4 {
        fault.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    let engine = over(Arc::new(fault.clone()), Policy::builder());
    let app = App::creating(&IdempotencyLayer::new(engine.clone()));
    let first = app.send(order("k")).await;
    assert_eq!((first.got(), first.header("idempotency-durable")), ((201, "order 1"), "false"));
    until(async || engine.held() == 0).await;
    let again = app.send(order("k")).await;
    assert_eq!((again.got(), again.is_replay()), ((201, "order 1"), true));
    assert_eq!((app.runs(), fault.left(StoreOp::Swap)), (1, 0));
}

/// The scope was a digest of the credential, so that a token which had been refreshed between two
/// tries led into an empty space of keys.
#[tokio::test]
async fn c6_a_refreshed_token_finds_the_keys_of_its_subject() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    app.send(with("authorization", "Bearer before", order("k"))).await;
    assert!(app.send(with("authorization", "Bearer after", order("k"))).await.is_replay());
    assert_eq!(app.runs(), 1);
}

/// The quoted and the bare form of a key were two keys, and of several headers the first one won.
#[tokio::test]
async fn c8_a_key_is_the_same_quoted_or_bare_and_several_are_refused() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    app.send(order("\"k\"")).await;
    assert!(app.send(order("k")).await.is_replay());
    for twice in [with("idempotency-key", "k", order("k")), order("k, k"), order("\"k\", \"l\"")] {
        assert_eq!(app.send(twice).await.told(), (400, "CACHING_VALIDATION_001"));
    }
    assert_eq!(app.runs(), 1);
}

/// Only a few headers were kept from being replayed, and cookies, challenges and rate limits of the
/// first caller went out again.
#[tokio::test]
async fn c9_headers_of_one_exchange_or_one_client_are_not_replayed() {
    const OWN: [(&str, &str); 6] = [
        ("set-cookie", "session=alice"),
        ("www-authenticate", "Bearer"),
        ("x-ratelimit-remaining", "9"),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("x-request-id", "17"),
        ("server-timing", "db;dur=53"),
    ];
    let app = App::new(&IdempotencyLayer::new(once()), async |run| {
        let mut response = created(run).await;
        let own = OWN
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        response.headers_mut().extend(own);
        response
    });
    let (first, again) = (app.send(order("k")).await, app.send(order("k")).await);
    for (name, value) in OWN {
        assert_eq!((first.header(name), again.header(name)), (value, ""));
    }
    assert_eq!(again.header("location"), "/orders/1");
}

/// The layer called a fresh clone of the service instead of the one that had been polled ready,
/// which panics in some services and passes by the limits of others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_the_service_that_was_polled_ready_is_the_one_that_is_called() {
    let (inside, latch) = (Arc::new(AtomicU32::new(0)), Latch::shut());
    let (counted, open) = (Arc::clone(&inside), latch.clone());
    let inner = service_fn(move |_: Request<Body>| {
        let (inside, open) = (Arc::clone(&counted), open.clone());
        async move {
            assert!(inside.fetch_add(1, Ordering::SeqCst) < 2, "more than two at once");
            open.pass().await;
            inside.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, Infallible>(reply(201, "made"))
        }
    });
    let inner = Buffer::new(ConcurrencyLimit::new(inner, 2), 3);
    let inner = inner.map_err(|error: BoxError| -> Infallible { panic!("{error}") });
    let app = App::around(&IdempotencyLayer::new(once()), ConcurrencyLimit::new(inner, 5));
    let calls: Vec<_> = (0..20).map(|n| app.start(order(&format!("k-{n}")))).collect();
    latch.reached(2).await;
    latch.open();
    for call in calls {
        assert_eq!(call.await.unwrap().got(), (201, "made"));
    }
}

/// A guard that was dropped freed its claim. A call that was cancelled after its effect could so
/// run a second time.
#[tokio::test(start_paused = true)]
async fn y1_a_claim_that_is_dropped_is_in_doubt_and_not_free() {
    let policy = Policy::builder().in_flight(InFlight::Reject).in_doubt(InDoubtPolicy::Reject);
    let once = once_of(policy);
    let call = call(&once, "k");
    drop(fresh(&once, &call).await);
    assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
    sleep(Duration::from_secs(60)).await;
    assert_eq!(refused(&once, &call).await.code(), Code::InDoubt);
    // The same for work that is cut off.
    let cut = once.call("cut").run(async |_| std::future::pending::<Result<u8, ()>>().await);
    assert!(semel::timer::within(Duration::from_secs(1), cut).await.is_none());
    let again = once.call("cut").run(async |_| Ok::<u8, ()>(1)).await;
    assert!(again.is_err(), "{again:?}");
}
