//! The tracker of IdempotentAPI.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderName, HeaderValue, Response, header};
use hyper_util::rt::{TokioExecutor, TokioIo};
use semel::timer::{SystemClock, sleep};
use semel::{InFlight, MemoryStore, MissingKey, Policy, Store};
use semel_http::{HttpSettings, IdempotencyLayer, OnDisconnect};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::support::{
    Answer, App, Latch, keyed, once, once_of, order, over, reply, request, sqlite,
};

/// These bytes in pieces of this size, as a body whose length is not known.
fn in_pieces(bytes: &Bytes, size: usize) -> Body {
    let pieces: Vec<_> =
        bytes.chunks(size).map(|piece| Ok::<_, Infallible>(bytes.slice_ref(piece))).collect();
    Body::from_stream(stream::iter(pieces))
}

/// A large body was hashed as it came in, and each try came in other pieces.
#[tokio::test]
async fn n2_a_body_is_the_same_request_however_it_is_cut() {
    let app = App::creating(&IdempotencyLayer::new(once()));
    for size in [1, 2, 1_023, 30_000, 1 << 20] {
        let body: Bytes = (0_u8..=250).cycle().take(size).collect();
        let key = format!("k-{size}");
        let send = async |body: Body| app.send(keyed(&key, request("POST", "/orders", body))).await;
        let first = send(Body::from(body.clone())).await;
        for piece in [size, size.div_ceil(2), size.div_ceil(1_000), 4_096] {
            let again = send(in_pieces(&body, piece)).await;
            assert_eq!((again.got(), again.is_replay()), (first.got(), true), "{size} by {piece}");
        }
    }
}

/// An answer of unknown length with headers of one connection.
fn framed() -> Response<Body> {
    let mut response = reply(201, in_pieces(&Bytes::from_static(b"hello, keyboard"), 4));
    for (name, value) in [
        ("content-type", "text/plain"),
        ("connection", "x-hop"),
        ("x-hop", "1"),
        ("keep-alive", "timeout=9"),
        ("date", "Mon, 01 Jan 2001 00:00:00 GMT"),
    ] {
        response.headers_mut().append(name, HeaderValue::from_static(value));
    }
    response
}

fn framed_app() -> App {
    let replayed = vec![header::CONTENT_TYPE, HeaderName::from_static("x-hop")];
    let settings = HttpSettings::builder().replayed_headers(replayed).build().unwrap();
    App::new(&IdempotencyLayer::new(once()).settings(settings), async |_| framed())
}

async fn raw(address: SocketAddr) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = "POST /orders HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: k\r\n\
                   Content-Length: 2\r\nConnection: close\r\n\r\n{}";
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer.to_ascii_lowercase()
}

/// A replay carried the recorded `Transfer-Encoding`, and clients met a chunk that was none.
#[tokio::test]
async fn n3_a_replay_is_framed_anew_on_http_1() {
    let address = framed_app().serve().await;
    let first = raw(address).await;
    assert!(first.contains("transfer-encoding: chunked\r\n"), "{first}");
    let again = raw(address).await;
    let (head, body) = again.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "hello, keyboard");
    assert!(head.contains("idempotent-replayed: true") && head.contains("content-length: 15"));
    for gone in ["transfer-encoding", "x-hop", "keep-alive", "2001"] {
        assert!(!head.contains(gone), "{head}");
    }
    assert_eq!(head.matches("\r\ndate: ").count(), 1);
}

/// The same over HTTP/2, where such headers make the whole answer malformed.
#[tokio::test]
async fn n3_a_replay_is_framed_anew_on_http_2() {
    let socket = TcpStream::connect(framed_app().serve().await).await.unwrap();
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket));
    let (mut client, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    for is_replay in [false, true] {
        let mut request = order("k");
        *request.uri_mut() = "http://shop/orders".parse().unwrap();
        let response = client.send_request(request).await.unwrap();
        let answer = Answer::read(response.map(Body::new)).await;
        assert_eq!(answer.got(), (201, "hello, keyboard"));
        assert_eq!(answer.header("idempotent-replayed") == "true", is_replay);
        assert!(!answer.headers.contains_key("transfer-encoding"));
        assert!(!is_replay || answer.header("content-length") == "15");
    }
}

/// The server died, and the key answered 409 from then on.
#[tokio::test(start_paused = true)]
async fn n4_a_call_that_was_cut_off_answers_409_for_no_longer_than_its_lease() {
    let settings = HttpSettings::builder().on_disconnect(OnDisconnect::Cancel).build().unwrap();
    let engine = once_of(Policy::builder().in_flight(InFlight::Reject));
    let latch = Latch::shut();
    let app = App::held(&IdempotencyLayer::new(engine).settings(settings), &latch);
    let first = app.start(order("k"));
    latch.reached(1).await;
    first.abort();
    sleep(Duration::from_secs(59)).await;
    assert_eq!(app.send(order("k")).await.told(), (409, "CACHING_CONFLICT_002"));
    sleep(Duration::from_secs(1)).await;
    latch.open();
    assert_eq!(app.send(order("k")).await.got(), (201, "order 2"));
}

/// Two servers over one store looked, found nothing, and both ran the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n6_of_concurrent_duplicates_at_two_servers_one_runs() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(SystemClock::new()));
    let apps: Vec<_> = (0..2)
        .map(|_| IdempotencyLayer::new(over(Arc::clone(&store), Policy::builder())))
        .map(|layer| App::creating(&layer))
        .collect();
    for round in 0..100 {
        let key = format!("k-{round}");
        let (one, two) = tokio::join!(apps[0].start(order(&key)), apps[1].start(order(&key)));
        assert_eq!(one.unwrap().body, two.unwrap().body);
        assert_eq!(apps[0].runs() + apps[1].runs(), round + 1);
    }
}

/// Replays were rebuilt as objects of the framework, by the name of their type, and broke when
/// that changed.
#[tokio::test]
async fn n8_a_replay_is_the_bytes_that_were_sent_also_from_a_file_that_was_reopened() {
    let directory = tempfile::tempdir().unwrap();
    let all: Bytes = (0..=u8::MAX).collect();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let engine = over(sqlite(directory.path()).await, Policy::builder());
        let body = all.clone();
        let app = App::new(&IdempotencyLayer::new(engine), move |_| {
            let body = body.clone();
            async move {
                let mut response = reply(299, body);
                let odd = HeaderValue::from_static("application/vnd.shop+octets; v=\"2\"");
                response.headers_mut().insert("content-type", odd);
                response
            }
        });
        seen.push((app.send(order("k")).await, app.runs()));
    }
    let [(first, 1), (again, 0)] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((again.status, &again.body, again.is_replay()), (299, &all, true));
    assert_eq!(again.headers["content-type"], first.headers["content-type"]);
}

/// There was no mark on a replay, no setting for one route only, and every route needed a key.
#[tokio::test]
async fn n10_each_route_has_its_own_policy_and_a_replay_is_marked() {
    let layer = IdempotencyLayer::new(once());
    let strict = App::creating(&layer.clone().operation("payments"));
    let easy = App::creating(&layer.operation("notes").missing_key(MissingKey::Optional));
    let keyless = || request("POST", "/orders", "{}");
    assert_eq!(strict.send(keyless()).await.told(), (400, "CACHING_VALIDATION_002"));
    assert_eq!(easy.send(keyless()).await.told(), (201, ""));
    assert!(!strict.send(order("k")).await.is_replay());
    assert!(strict.send(order("k")).await.is_replay());
}
