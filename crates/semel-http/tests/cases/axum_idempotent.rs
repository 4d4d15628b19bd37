//! The change log of axum-idempotent.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::routing::post;
use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use semel::core::{Expect, Key, Next, Swap, Touch, Ttl};
use semel::timer::SystemClock;
use semel::{MemoryLimits, MemoryStore, Policy, Scope};
use semel_http::{HttpSettings, IdempotencyLayer};

use super::support::{App, bob, created, from, keyed, once, order, over, reply, request, with};

/// The key was the name of a field of the session, so that the key `user` read and overwrote the
/// application's own data.
#[tokio::test]
async fn x1_no_key_reaches_anything_but_idempotent_calls_of_its_own_caller() {
    let engine = once();
    let user = Key::new("user").unwrap();
    let put = Next::Put { value: Bytes::from_static(b"private"), lease: Ttl::MAX, keep: Ttl::MAX };
    assert!(matches!(engine.store().swap(&user, Expect::Absent, put).await, Ok(Swap::Won(_))));
    let app = App::creating(&IdempotencyLayer::new(engine.clone()));
    app.send(from(bob(), order("k"))).await;
    for key in ["user", "idem:acme:bob:k", "acme:bob:k", "..:bob:k", "%3A"] {
        assert!(!app.send(order(key)).await.is_replay(), "{key}");
    }
    let there = engine.store().read(&user, Touch::No).await.unwrap().entry.unwrap();
    assert_eq!(there.value, Bytes::from_static(b"private"));
    assert!(app.send(from(bob(), order("k"))).await.is_replay());
}

/// To read bodies itself, the layer lifted the limit on them for every handler.
#[tokio::test]
async fn x2_the_layer_has_a_limit_and_leaves_the_handlers_own() {
    let settings = HttpSettings::builder().max_request_body(40).build().unwrap();
    let router = Router::new()
        .route("/orders", post(async |body: Bytes| format!("{} bytes", body.len())))
        .layer(DefaultBodyLimit::max(20));
    let app = App::around(&IdempotencyLayer::new(once()).settings(settings), router);
    let sized = |key: &str, size: usize| keyed(key, request("POST", "/orders", "x".repeat(size)));
    assert_eq!(app.send(sized("a", 20)).await.got(), (200, "20 bytes"));
    assert_eq!(app.send(sized("b", 21)).await.told(), (413, ""));
    assert_eq!(app.send(sized("c", 41)).await.told(), (413, "CACHING_VALIDATION_005"));
}

/// A client that broke off its upload made the layer panic.
#[tokio::test]
async fn x3_an_upload_that_breaks_off_runs_nothing_and_leaves_the_key_free() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    let pieces = [Ok(Bytes::from_static(b"{\"name\"")), Err(io::Error::other("gone"))];
    let body = Body::from_stream(stream::iter(pieces));
    assert_eq!(app.send(keyed("k", request("POST", "/orders", body))).await.status, 400);
    assert_eq!(app.runs(), 0);
    assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
}

/// Fields were hashed one behind the other without their lengths, so that the end of one could pass
/// for the beginning of the next.
#[tokio::test]
async fn x4_what_moves_from_one_field_to_the_next_is_another_request() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    let shaped = |media: &str, encoding: &str, body: &'static str| {
        let mut request = keyed("k", request("POST", "/orders", body));
        request.headers_mut().insert("content-type", HeaderValue::from_str(media).unwrap());
        with("content-encoding", encoding, request)
    };
    app.send(shaped("a/ab", "cd", "ef")).await;
    for (media, encoding, body, differs) in [
        ("a/a", "bcd", "ef", ["content-type", "content-encoding"]),
        ("a/ab", "c", "def", ["content-encoding", "body"]),
        ("a/abc", "d", "ef", ["content-type", "content-encoding"]),
    ] {
        let answer = app.send(shaped(media, encoding, body)).await;
        assert_eq!(answer.told(), (422, "CACHING_VALIDATION_003"));
        let mut told = answer.problem("params")["differs"].as_array().unwrap().clone();
        told.sort_by_key(|part| differs.iter().position(|name| part == name));
        assert_eq!(told, differs);
    }
}

/// The query was no part of the key, and `?page=2` was answered with page 1.
#[tokio::test]
async fn x5_another_query_is_another_request() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    let of = |query: &str| keyed("k", request("POST", &format!("/orders?{query}"), "{}"));
    app.send(of("dry=1&n=2")).await;
    for query in ["dry=0&n=2", "dry=1", "dry=1&n=2&n=2", ""] {
        let answer = app.send(of(query)).await;
        assert_eq!(answer.problem("params"), serde_json::json!({ "differs": ["query"] }));
    }
    assert!(app.send(of("dry=1&n=2")).await.is_replay());
}

/// A caller who asked for another representation was given the recorded one as if it were that.
/// An effect that happens once has one answer; a replay says which representation it is.
#[tokio::test]
async fn x6_a_replay_says_which_representation_it_is() {
    let app = App::new(&IdempotencyLayer::new(once()), async |run| {
        let media = run.request.headers()["accept"].clone();
        let mut response = reply(201, format!("as {}", media.to_str().unwrap()));
        response.headers_mut().insert("content-type", media);
        response.headers_mut().insert("content-language", HeaderValue::from_static("de"));
        response
    });
    app.send(with("accept", "text/csv", order("k"))).await;
    let again = app.send(with("accept", "application/json", order("k"))).await;
    assert_eq!((again.got(), again.is_replay()), ((201, "as text/csv"), true));
    assert_eq!(
        (again.header("content-type"), again.header("content-language")),
        ("text/csv", "de")
    );
}

/// Of two values of one header a replay had one.
#[tokio::test]
async fn x7_all_values_of_a_header_are_replayed_and_in_their_order() {
    let links = ["</orders/1>; rel=self", "</orders>; rel=up", "</orders/1>; rel=self"];
    let app = App::new(&IdempotencyLayer::new(once()), async |run| {
        let mut response = created(run).await;
        for name in ["link", "set-cookie"] {
            let values = ["</orders/1>; rel=self", "</orders>; rel=up", "</orders/1>; rel=self"];
            for value in values {
                response.headers_mut().append(name, HeaderValue::from_static(value));
            }
        }
        response
    });
    let (first, again) = (app.send(order("k")).await, app.send(order("k")).await);
    let values = |name| again.headers.get_all(name).iter().collect::<Vec<_>>();
    assert_eq!(values("link"), links);
    assert_eq!(first.headers.get_all("set-cookie").iter().count(), 3);
    assert!(values("set-cookie").is_empty());
}

/// One header with bytes that are no text switched the protection off.
#[tokio::test]
async fn x8_bytes_that_are_no_text_change_nothing_about_protection() {
    let app = App::new(&IdempotencyLayer::new(once()), async |run| {
        let mut response = created(run).await;
        response.headers_mut().insert("etag", HeaderValue::from_bytes(b"\"\xff\xe9\"").unwrap());
        response
    });
    let odd = || with("x-note", b"caf\xe9 \xff", order("k"));
    app.send(odd()).await;
    let again = app.send(odd()).await;
    assert_eq!((again.is_replay(), again.headers["etag"].as_bytes()), (true, &b"\"\xff\xe9\""[..]));
    let unreadable = with("content-encoding", b"\xff", order("k"));
    assert_eq!(app.send(unreadable).await.status, 422);
    assert_eq!(app.runs(), 1);
}

/// A record that was cut short made the layer panic, or was replayed with half a body.
#[tokio::test]
async fn x9_a_truncated_record_is_neither_replayed_nor_run_over() {
    let engine = once();
    let app = App::creating(&IdempotencyLayer::new(engine.clone()));
    app.send(order("k")).await;
    let store = engine.store();
    let key = Key::idempotency(&Scope::new("acme", "alice").unwrap(), "k").unwrap();
    let whole = store.read(&key, Touch::No).await.unwrap().entry.unwrap().value;
    let put = async |value: Bytes| {
        let next = Next::Put { value, lease: Ttl::ZERO, keep: Ttl::MAX };
        assert!(matches!(store.swap(&key, Expect::Any, next).await, Ok(Swap::Won(_))));
    };
    for length in 0..whole.len() {
        put(whole.slice(..length)).await;
        assert_eq!(app.send(order("k")).await.told(), (503, "CACHING_UNAVAILABLE_001"));
    }
    put(whole).await;
    assert_eq!((app.send(order("k")).await.got(), app.runs()), ((201, "order 1"), 1));
}

/// Anybody could fill the store with keys, at the cost of those who had paid for its promises.
#[tokio::test]
async fn x10_a_full_store_refuses_what_is_new_and_anonymous_calls_store_nothing() {
    let limits = MemoryLimits { total_bytes: 20_000, ..MemoryLimits::default() };
    let store = Arc::new(MemoryStore::with_limits(SystemClock::new(), limits));
    let app = App::creating(&IdempotencyLayer::new(over(store.clone(), Policy::builder())));
    let mut nobody = order("k");
    nobody.extensions_mut().remove::<Scope>();
    assert_eq!((app.send(nobody).await.status, store.used_bytes()), (500, 0));
    app.send(order("first")).await;
    let mut refused = 0;
    for number in 0..200 {
        let flood = app.send(from(bob(), order(&format!("k-{number}")))).await;
        if flood.status == 503 {
            assert_eq!(flood.code(), "CACHING_UNAVAILABLE_002");
            refused += 1;
        }
    }
    assert!(refused > 0 && store.used_bytes() <= 20_000, "{refused}, {}", store.used_bytes());
    assert_eq!(app.runs(), 201 - refused);
    assert!(app.send(order("first")).await.is_replay());
}

/// A key that could not be read was taken for none, and the call ran unprotected.
#[tokio::test]
async fn x11_an_unreadable_key_is_refused_also_where_keys_are_optional() {
    let layer = IdempotencyLayer::new(once()).missing_key(semel::MissingKey::Optional);
    let app = App::creating(&layer);
    let long = "k".repeat(256);
    for key in [
        &b""[..],
        b" ",
        b"\"",
        b"\"open",
        b"\"\"",
        b"a b",
        b"a,b",
        b"\xff",
        "clé".as_bytes(),
        long.as_bytes(),
        b"\"k\";=",
        b"(k)",
        b"\"a\" \"b\"",
    ] {
        let answer = app.send(with("idempotency-key", key, request("POST", "/orders", "{}"))).await;
        assert_eq!(answer.told(), (400, "CACHING_VALIDATION_001"), "{key:?}");
    }
    let torn = with("baggage", "xihan.idempotency-key=%ZZ", request("POST", "/orders", "{}"));
    assert_eq!(app.send(torn).await.told(), (400, "CACHING_VALIDATION_001"));
    assert_eq!(app.runs(), 0);
}
