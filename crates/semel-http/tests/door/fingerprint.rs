//! What tells a repeat from another request under its key.

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Request};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use proptest::prelude::*;
use semel::{Begun, Call, Code, InFlight, Operation};
use semel_http::{Fingerprint, IdempotencyLayer};
use tower::{Layer, ServiceExt};

use crate::support::bodies::{Scripted, Step};
use crate::support::clocks::Passed;
use crate::support::{Answer, Door, Order, Work, alice, once, order, policy, settings};

pub(crate) fn with(fingerprint: Fingerprint) -> Door {
    Door::counting(once(), |layer| layer.fingerprint(fingerprint))
}

pub(crate) fn to(uri: &str, content_type: Option<&str>, body: impl Into<Bytes>) -> Order {
    let mut order = order("k", body);
    *order.uri_mut() = uri.parse().unwrap();
    order.headers_mut().remove("content-type");
    if let Some(kind) = content_type {
        order.headers_mut().insert("content-type", HeaderValue::from_str(kind).unwrap());
    }
    order
}

/// What the second request is told to differ in; none where it is taken for a repeat.
pub(crate) async fn differs(door: &Door, first: Order, second: Order) -> Option<Vec<String>> {
    assert!(door.send(first).await.status.is_success());
    let answer = door.send(second).await;
    if answer.is_marked() {
        return None;
    }
    answer.assert_is(Code::PayloadMismatch);
    assert_eq!(door.runs.count(), 1);
    let differs = answer.json()["params"]["differs"].as_array().unwrap().clone();
    Some(differs.iter().map(|part| part.as_str().unwrap().to_owned()).collect())
}

pub(crate) fn parts(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|&name| name.to_owned()).collect())
}

/// S4: the dedicated code says which parts differ, and no message shows what was in them.
#[tokio::test]
async fn s4_a_mismatch_names_the_parts_and_none_of_their_values() {
    let json = Some("application/json");
    for (first, second, expected) in [
        (to("/orders", json, "secret-1"), to("/orders", json, "secret-2"), &["body"][..]),
        (to("/orders?a=1", json, "{}"), to("/orders?a=2", json, "{}"), &["query"]),
        (to("/orders", json, "{}"), to("/orders", Some("text/plain"), "{}"), &["content-type"]),
        (to("/orders", json, "{}"), to("/orders", None, "{}"), &["content-type"]),
        (to("/orders", json, ""), to("/orders?b", None, "x"), &["query", "content-type", "body"]),
    ] {
        assert_eq!(differs(&with(Fingerprint::Request), first, second).await, parts(expected));
    }
    let door = with(Fingerprint::Request);
    door.send(to("/orders", json, "secret-1")).await;
    let told = door.send(to("/orders", json, "secret-2")).await;
    assert!(!told.text().contains("secret"));
}

#[tokio::test]
async fn the_encoding_of_a_body_is_a_part() {
    let door = with(Fingerprint::Request);
    let mut zipped = order("k", "{}");
    zipped.headers_mut().insert("content-encoding", HeaderValue::from_static("gzip"));
    assert_eq!(differs(&door, order("k", "{}"), zipped).await, parts(&["content-encoding"]));
}

/// Under a name of its own one operation may have several paths and methods.
#[tokio::test]
async fn method_and_path_are_parts_where_the_operation_does_not_tell_them() {
    let door = Door::counting(once(), |layer| layer.operation("orders.change"));
    let put = |uri: &str| {
        let mut order = to(uri, None, "{}");
        *order.method_mut() = http::Method::PUT;
        order
    };
    let expected = parts(&["method", "path"]);
    assert_eq!(differs(&door, to("/orders/1", None, "{}"), put("/orders/2")).await, expected);
}

/// X5: the query was left out. Its spelling alone makes no difference.
#[tokio::test]
async fn x5_the_query_counts_and_its_spelling_does_not() {
    for (first, second, same) in [
        ("/orders?a=1&b=2", "/orders?b=2&a=1", true),
        ("/orders?a=%7e", "/orders?a=~", true),
        ("/orders?a=%2f", "/orders?a=%2F", true),
        ("/orders?", "/orders", true),
        ("/orders?a=1", "/orders", false),
        ("/orders?a=1&a=2", "/orders?a=2&a=1", false),
        ("/orders?a=%2F", "/orders?a=/", false),
        ("/orders?a=1", "/orders?A=1", false),
        ("/orders?a=b%26c=d", "/orders?a=b&c=d", false),
    ] {
        let door = with(Fingerprint::Request);
        let differs = differs(&door, to(first, None, ""), to(second, None, "")).await;
        assert_eq!(differs, if same { None } else { parts(&["query"]) }, "{first} and {second}");
    }
}

#[tokio::test]
async fn the_content_type_counts_and_its_spelling_does_not() {
    for (first, second, same) in [
        ("application/json", "Application/JSON", true),
        ("application/json;charset=utf-8", "application/json ;  charset=utf-8", true),
        ("application/json", "application/json;charset=utf-8", false),
        ("multipart/form-data;boundary=a", "multipart/form-data;boundary=A", false),
        ("multipart/form-data;boundary=\"a;b\"", "multipart/form-data;boundary=\"a; b\"", false),
    ] {
        let door = with(Fingerprint::Request);
        let differs = differs(&door, to("/", Some(first), ""), to("/", Some(second), "")).await;
        assert_eq!(differs, if same { None } else { parts(&["content-type"]) }, "{second}");
    }
}

/// X4: fields that are joined without their lengths can be moved from one to the next.
#[tokio::test]
async fn x4_nothing_can_be_moved_from_one_part_to_the_next() {
    for (first, second) in [
        (to("/o?ab", Some("c"), "d"), to("/o?a", Some("bc"), "d")),
        (to("/o?a", Some("bc"), "d"), to("/o?a", Some("b"), "cd")),
        (to("/o?a=b&c=d", None, ""), to("/o?a=bc&=d", None, "")),
        (to("/o", Some(""), "a"), to("/o", None, "a")),
    ] {
        assert!(differs(&with(Fingerprint::Request), first, second).await.is_some());
    }
    // Two values of a header are not the two of them as one.
    let twice = |values: [&'static str; 2]| {
        let mut order = to("/o", None, "");
        for value in values {
            order.headers_mut().append("content-encoding", HeaderValue::from_static(value));
        }
        order
    };
    let door = with(Fingerprint::Request);
    assert!(differs(&door, twice(["ab", "c"]), twice(["a", "bc"])).await.is_some());
}

/// X6: what a client accepts says how it wants to be answered, not what it wants done. A replay
/// is the first answer in its first representation, and says which that is.
#[tokio::test]
async fn x6_another_accept_header_is_no_other_request_and_the_replay_says_what_it_is() {
    let door = with(Fingerprint::Request);
    let mut other = order("k", "{}");
    other.headers_mut().insert("accept", HeaderValue::from_static("application/xml"));
    let first = door.send(order("k", "{}")).await;
    let again = door.send(other).await;
    assert_eq!(again.essence(), first.essence());
    assert_eq!(again.header("content-type"), first.header("content-type"));
}

#[tokio::test]
async fn the_body_alone_may_count() {
    let door = with(Fingerprint::Body);
    let other = to("/orders?a=2", Some("text/plain"), "{}");
    assert_eq!(differs(&door, order("k", "{}"), other).await, None);
    let door = with(Fingerprint::Body);
    assert_eq!(differs(&door, order("k", "{}"), order("k", "[]")).await, parts(&["body"]));
}

#[tokio::test]
async fn nothing_may_count() {
    let door = with(Fingerprint::Off);
    let other = to("/orders?a=2", Some("text/plain"), "other");
    assert_eq!(differs(&door, order("k", "{}"), other).await, None);
}

// ===== Order of checks, other callers, chunks =====

/// idempot-js#191: another request under the key of a call in flight is told so at once; to wait
/// would not make it right.
#[tokio::test(start_paused = true)]
async fn a_mismatch_beats_in_flight() {
    let door = Door::counting(once(), |layer| {
        layer.in_flight(InFlight::Wait(std::time::Duration::from_secs(3)))
    });
    let operation = Operation::new("POST /orders").unwrap();
    let fingerprint = semel::Fingerprint::builder().part("body", b"[1]").build();
    let policy = door.once.default_policy();
    let call = Call::new(&policy, &alice(), "k", operation).unwrap().with_fingerprint(fingerprint);
    let Begun::Fresh(claim) = door.once.begin(&call).await else { panic!("it is free") };
    let began = Passed::since_now();
    door.post("k", "[2]").await.assert_is(Code::PayloadMismatch);
    let mut refund = order("k", "[1]");
    *refund.uri_mut() = "/refunds".parse().unwrap();
    door.send(refund).await.assert_is(Code::KeyReused);
    assert!(began.time().is_zero());
    door.post("k", "[1]").await.assert_is(Code::InProgress);
    drop(claim);
}

/// P2: the fingerprint survives every change of a record's state.
#[tokio::test]
async fn p2_a_record_that_is_done_still_knows_its_request() {
    for _ in 0..2 {
        let door = with(Fingerprint::Request);
        door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
        door.post("k", "[]").await.assert_is(Code::PayloadMismatch);
        assert!(door.post("k", "{}").await.is_marked());
    }
}

/// A body in pieces of these sizes, the last of them as often as it takes.
fn chunked(body: &[u8], sizes: &[usize]) -> StreamBody<impl stream::Stream<Item = Piece> + use<>> {
    let mut pieces = Vec::new();
    let mut rest = Bytes::copy_from_slice(body);
    let last = sizes.last().copied().unwrap_or(1).max(1);
    let mut sizes = sizes.iter().copied();
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(last).min(rest.len());
        pieces.push(Ok(Frame::data(rest.split_to(size))));
    }
    StreamBody::new(stream::iter(pieces))
}

type Piece = Result<Frame<Bytes>, std::convert::Infallible>;

/// Sends a body whole, then in pieces: whether the second was taken for a repeat.
async fn is_a_repeat(body: &[u8], sizes: &[usize], limit: usize) -> bool {
    let work = Work::new(|asked| async move {
        assert!(asked.run == 1, "it ran again");
        Ok(http::Response::new(axum::body::Body::from(asked.body)))
    });
    let settings = settings(|http| http.max_request_body(limit).max_cached_response(limit));
    let service = IdempotencyLayer::new(once()).settings(settings).layer(work);
    let request = || Request::post("/").header("idempotency-key", "k").extension(alice());
    let whole = request().body(Full::new(Bytes::copy_from_slice(body))).unwrap();
    let first = Answer::of(service.clone().oneshot(whole).await.unwrap()).await.unwrap();
    assert_eq!(first.body, body);
    let pieces = request().body(chunked(body, sizes)).unwrap();
    let again = Answer::of(service.oneshot(pieces).await.unwrap()).await.unwrap();
    again.is_replayed && again.body == body
}

pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

proptest! {
    /// N2: bodies over 30 KB were hashed differently from try to try.
    #[test]
    fn n2_any_chunking_is_the_same_request(
        body in prop::collection::vec(any::<u8>(), 1..5_000),
        sizes in prop::collection::vec(0_usize..700, 0..20),
    ) {
        prop_assert!(run(is_a_repeat(&body, &sizes, 1 << 20)));
    }

    #[test]
    fn one_byte_more_less_or_other_is_another_request(
        body in prop::collection::vec(any::<u8>(), 1..200),
        at in any::<prop::sample::Index>(),
        with in 1_u8..,
        how in 0..3,
    ) {
        let at = at.index(body.len());
        let mut other = body.clone();
        match how {
            0 => other[at] ^= with,
            1 => other.insert(at, with),
            _ => drop(other.remove(at)),
        }
        let door = with_request();
        let told = run(differs(&door, order("k", body), order("k", other)));
        prop_assert_eq!(told, parts(&["body"]));
    }
}

fn with_request() -> Door {
    run(async { with(Fingerprint::Request) })
}

#[test]
fn n2_from_one_byte_to_the_limit_any_chunking_is_the_same_request() {
    const LIMIT: usize = 1 << 20;
    for size in [1, 2, 1_023, 1_024, 1_025, 30_000, 65_536, LIMIT - 1, LIMIT] {
        let body: Vec<u8> = (0..size).map(|n| u8::try_from(n * 31 % 251).unwrap()).collect();
        for chunk in [1, 7, 1_024, 16_384, size] {
            if size / chunk <= 100_000 {
                assert!(run(is_a_repeat(&body, &[chunk], LIMIT)), "{size} in pieces of {chunk}");
            }
        }
    }
}

/// Trailers of a request reach the handler, and are no part of what is compared.
#[tokio::test]
async fn trailers_of_a_request_reach_the_handler() {
    let inner =
        tower::service_fn(|request: Request<semel_http::RequestBody<Scripted>>| async move {
            let body = http_body_util::BodyExt::collect(request.into_body()).await.unwrap();
            let sum = body.trailers().unwrap()["x-sum"].clone();
            let mut response = http::Response::new(Full::new(body.to_bytes()));
            response.headers_mut().insert("location", sum);
            Ok::<_, std::convert::Infallible>(response)
        });
    let service = IdempotencyLayer::new(once()).policy(policy(|policy| policy)).layer(inner);
    for sum in ["1", "2"] {
        let mut trailers = http::HeaderMap::new();
        trailers.insert("x-sum", HeaderValue::from_static(sum));
        let body = Scripted::of(&["a", "b"]).then(Step::Trailers(trailers));
        let request = Request::post("/").header("idempotency-key", "k").extension(alice());
        let response = service.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let answer = Answer::of(response).await.unwrap();
        assert_eq!((answer.header("location"), answer.text()), (Some("1"), "ab"));
    }
}
