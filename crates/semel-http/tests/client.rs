//! The client's side and the layer, over TCP and through a network that is cut: with a client of
//! `hyper-util` under tower, and with `reqwest`.

#![cfg(feature = "client")]
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use semel::timer::SystemClock;
use semel::{MemoryStore, Once};
use semel_http::client::{
    AnswerInfo, ClientError, ClientSettings, Conclusion, GaveUp, Origin, Redirects, SafeRetryLayer,
};
use semel_http::{Anonymous, IdempotencyLayer};
use semel_testkit::{Cut, Direction, FaultProxy};
use tokio::io::AsyncReadExt;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

/// A service that counts, behind the layer and a proxy.
struct Shop {
    proxy: FaultProxy,
    runs: Arc<AtomicU64>,
}

impl Shop {
    async fn open() -> Self {
        let runs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&runs);
        let sell = async move || {
            let run = counted.fetch_add(1, Ordering::Relaxed) + 1;
            (StatusCode::CREATED, format!("order {run}"))
        };
        let once = Once::new(Arc::new(MemoryStore::new(SystemClock::new())));
        let layer = IdempotencyLayer::new(once).anonymous(Anonymous::Shared);
        let app = Router::new().route("/orders", post(sell)).layer(layer);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { proxy: FaultProxy::start(at).await.unwrap(), runs }
    }

    fn url(&self) -> String {
        format!("http://{}/orders", self.proxy.address())
    }

    fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }
}

fn quick() -> SafeRetryLayer {
    with_redirects(Redirects::default())
}

fn with_redirects(redirects: Redirects) -> SafeRetryLayer {
    let settings = ClientSettings::builder()
        .redirects(redirects)
        .first_backoff(Duration::from_millis(5))
        .longest_backoff(Duration::from_millis(50));
    SafeRetryLayer::new(settings.build().unwrap())
}

fn order(url: &str) -> Request<Full<Bytes>> {
    Request::post(url).body(Full::from("one keyboard")).unwrap()
}

/// The places where a connection is cut, one after the other.
const CUTS: [(Direction, u64, Cut); 6] = [
    (Direction::ToServer, 0, Cut::Reset),
    (Direction::ToServer, 50, Cut::Close),
    (Direction::ToClient, 0, Cut::Reset),
    (Direction::ToClient, 0, Cut::Close),
    (Direction::ToClient, 40, Cut::Reset),
    (Direction::ToClient, 80, Cut::Close),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tower_client_gets_one_answer_for_each_intent_wherever_it_is_cut_off() {
    let shop = Shop::open().await;
    // A client for each call: no connection of an earlier one is there to be used.
    for (n, (direction, after, cut)) in CUTS.into_iter().enumerate() {
        let hyper = Client::builder(TokioExecutor::new()).build_http();
        let mut client = ServiceBuilder::new().layer(quick()).service(hyper);
        shop.proxy.cut_after(direction, after, cut);
        let answer = client.ready().await.unwrap().call(order(&shop.url())).await.unwrap();
        let info = answer.extensions().get::<AnswerInfo>().unwrap().clone();
        assert_eq!(answer.status(), StatusCode::CREATED);
        assert!(info.tries() > 1, "{direction:?} {after}: {info:?}");
        let is_replay = info.origin() == &Origin::Replayed;
        assert_eq!(is_replay, direction == Direction::ToClient, "{direction:?} {after}");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, format!("order {}", n + 1));
    }
    assert_eq!(shop.runs(), CUTS.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reqwest_gets_one_answer_for_each_intent_wherever_it_is_cut_off() {
    let shop = Shop::open().await;
    for (n, (direction, after, cut)) in CUTS.into_iter().enumerate() {
        let plain = reqwest::Client::builder().no_proxy().build().unwrap();
        let client = reqwest_middleware::ClientBuilder::new(plain).with(quick()).build();
        shop.proxy.cut_after(direction, after, cut);
        let answer = client.post(shop.url()).body("one keyboard").send().await.unwrap();
        assert_eq!(answer.url().as_str(), shop.url());
        assert_eq!(answer.content_length(), Some(7));
        let info = answer.extensions().get::<AnswerInfo>().unwrap();
        assert_eq!(info.origin() == &Origin::Replayed, direction == Direction::ToClient);
        assert_eq!(answer.text().await.unwrap(), format!("order {}", n + 1));
    }
    assert_eq!(shop.runs(), CUTS.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_refused_proves_that_nothing_was_sent() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at: SocketAddr = listener.local_addr().unwrap();
        format!("http://{at}/orders")
    };
    let hyper = Client::builder(TokioExecutor::new()).build_http();
    let client = with_redirects(Redirects::NotFollowed).layer(hyper);
    let error = client.clone().oneshot(order(&nobody)).await.unwrap_err();
    assert_eq!((error.conclusion(), error.tries()), (Conclusion::NeverSent, 5));

    // Who has got a byte may have got them all.
    let error = client.oneshot(order(&hangs_up_at_the_first_byte().await)).await.unwrap_err();
    assert_eq!((error.conclusion(), error.tries()), (Conclusion::Unknown, 5));
}

/// What was ordered was made; where its answer leads to, nobody listens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_to_nowhere_is_not_taken_for_a_request_that_was_never_sent() {
    let runs = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&runs);
    let sell = async move || {
        counted.fetch_add(1, Ordering::Relaxed);
        (StatusCode::SEE_OTHER, [("location", "http://127.0.0.1:1/orders/1")])
    };
    let app = Router::new().route("/orders", post(sell));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/orders", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let plain = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = reqwest_middleware::ClientBuilder::new(plain).with(quick()).build();
    let lost = client.post(url).send().await.unwrap_err();
    assert_eq!(ClientError::of(&lost).unwrap().conclusion(), Conclusion::Unknown);
    assert!(runs.load(Ordering::Relaxed) > 0);
}

/// The URL of a service that takes one byte of each request.
async fn hangs_up_at_the_first_byte() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read_u8().await;
        }
    });
    format!("http://{at}/orders")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_streamed_request_is_sent_once_with_a_key_to_ask_again_with() {
    let shop = Shop::open().await;
    let plain = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = reqwest_middleware::ClientBuilder::new(plain).with(quick()).build();
    let stream = || {
        let piece = http_body::Frame::data(Bytes::from_static(b"one keyboard"));
        let pieces = futures_util::stream::iter([Ok::<_, std::io::Error>(piece)]);
        reqwest::Body::wrap(StreamBody::new(pieces))
    };
    shop.proxy.cut_after(Direction::ToClient, 0, Cut::Reset);
    let lost = client.post(shop.url()).body(stream()).send().await.unwrap_err();
    let error = ClientError::of(&lost).unwrap();
    assert_eq!((error.gave_up(), error.tries()), (&GaveUp::BodyIsGone, 1));

    let key = error.key().unwrap().clone();
    let again = client.post(shop.url()).with_extension(key).body(stream());
    let answer = again.send().await.unwrap();
    let info = answer.extensions().get::<AnswerInfo>().unwrap();
    assert_eq!(info.origin(), &Origin::Replayed);
    assert_eq!(shop.runs(), 1);
}

#[derive(Debug, Clone, Default)]
struct Logs(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Also by `reqwest` and `hyper`, which log at the lowest level what they send.
#[tokio::test]
async fn no_log_shows_the_key() {
    let logs = Logs::default();
    let writer = logs.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let shop = Shop::open().await;
    let plain = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = reqwest_middleware::ClientBuilder::new(plain).with(quick()).build();
    shop.proxy.cut_after(Direction::ToClient, 0, Cut::Reset);
    let answer = client.post(shop.url()).send().await.unwrap();
    let key = answer.extensions().get::<AnswerInfo>().unwrap().key().unwrap().clone();
    let text = String::from_utf8(logs.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("trying again"), "something was logged: {text}");
    assert!(!text.contains(key.as_str()), "{text}");
}
