//! C10: the layer calls exactly the service that it polled ready, never a clone of it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use http::{Request, Response};
use http_body_util::Full;
use semel::timer::sleep;
use semel_http::{IdempotencyLayer, RequestBody};
use tokio::task::JoinSet;
use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::support::door::infallible;
use crate::support::{Answer, let_all_run, once, order};

type Asked = Request<RequestBody<Full<Bytes>>>;

/// Panics when it is called without having been polled ready, as services may.
#[derive(Debug, Default)]
struct Strict {
    ready: bool,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    runs: Arc<AtomicUsize>,
}

impl Clone for Strict {
    /// A clone is not ready.
    fn clone(&self) -> Self {
        let (running, most) = (Arc::clone(&self.running), Arc::clone(&self.most));
        Self { ready: false, running, most, runs: Arc::clone(&self.runs) }
    }
}

impl Service<Asked> for Strict {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Asked) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without having been polled ready");
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        self.runs.fetch_add(1, Ordering::SeqCst);
        let running = Arc::clone(&self.running);
        async move {
            sleep(Duration::from_millis(10)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(Response::new(Body::from("done")))
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn c10_a_service_that_insists_on_being_polled_ready_is_content() {
    let strict = Strict::default();
    let mut service = IdempotencyLayer::new(once()).layer(strict.clone());
    for n in 0..3 {
        // With a key, again with that key, and untouched.
        let get = Request::get("/").body(Full::default()).unwrap();
        for request in [order(&format!("k-{n}"), ""), order(&format!("k-{n}"), ""), get] {
            let response = infallible(service.ready().await.unwrap().call(request).await);
            assert_eq!(Answer::of(response).await.unwrap().text(), "done");
        }
        // A refusal calls nothing, and leaves the service as ready as it was.
        let refused = service.ready().await.unwrap().call(order("", "")).await.unwrap();
        assert_eq!(refused.status().as_u16(), 400);
    }
    assert_eq!(strict.runs.load(Ordering::SeqCst), 6);
}

/// Sends requests with keys of their own at once, and some twice.
async fn crowd<S, B>(service: S, requests: usize) -> Vec<Result<Answer, tower::BoxError>>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<tower::BoxError>,
    S::Future: Send,
    B: http_body::Body + Send,
    B::Data: Send,
    B::Error: Into<tower::BoxError>,
{
    let mut calls = JoinSet::new();
    for n in 0..requests {
        let service = service.clone();
        calls.spawn(async move {
            let response =
                service.oneshot(order(&format!("k-{n}"), "{}")).await.map_err(Into::into)?;
            Answer::of(response).await.map_err(Into::into)
        });
    }
    calls.join_all().await
}

#[tokio::test(start_paused = true)]
async fn c10_a_limit_further_in_is_respected_and_all_get_through() {
    let strict = Strict::default();
    let service = ServiceBuilder::new()
        .layer(IdempotencyLayer::new(once()))
        .layer(ConcurrencyLimitLayer::new(3))
        .service(strict.clone());
    let answers = crowd(service, 50).await;
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().text() == "done"));
    assert_eq!(strict.most.load(Ordering::SeqCst), 3);
    assert_eq!(strict.runs.load(Ordering::SeqCst), 50);
}

#[tokio::test(start_paused = true)]
async fn c10_a_limit_further_out_is_respected_and_all_get_through() {
    let strict = Strict::default();
    let service = ServiceBuilder::new()
        .layer(ConcurrencyLimitLayer::new(3))
        .layer(IdempotencyLayer::new(once()))
        .service(strict.clone());
    let answers = crowd(service, 50).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(strict.most.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn c10_a_buffer_on_either_side_works() {
    let strict = Strict::default();
    let further_in = ServiceBuilder::new()
        .layer(IdempotencyLayer::new(once()))
        .layer(BufferLayer::new(4))
        .service(strict.clone());
    let answers = crowd(further_in, 50).await;
    assert!(answers.iter().all(Result::is_ok));
    let further_out = ServiceBuilder::new()
        .layer(BufferLayer::new(4))
        .layer(IdempotencyLayer::new(once()))
        .service(strict.clone());
    let answers = crowd(further_out, 50).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(strict.runs.load(Ordering::SeqCst), 100);
}

/// What is shed ran not at all: its key is free, and a retry runs.
#[tokio::test(start_paused = true)]
async fn c10_what_is_shed_further_in_leaves_its_key_free() {
    let strict = Strict::default();
    let service = ServiceBuilder::new()
        .layer(IdempotencyLayer::new(once()))
        .layer(LoadShedLayer::new())
        .layer(ConcurrencyLimitLayer::new(2))
        .service(strict.clone());
    let answers = crowd(service.clone(), 10).await;
    let served = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!((2..10).contains(&served), "{served} of ten were served by two");
    assert_eq!(strict.most.load(Ordering::SeqCst), 2);
    let_all_run().await;
    for n in 0..10 {
        let response = service.clone().oneshot(order(&format!("k-{n}"), "{}")).await.unwrap();
        assert_eq!(Answer::of(response).await.unwrap().text(), "done");
    }
    assert_eq!(strict.runs.load(Ordering::SeqCst), 10);
}

/// A place under a limit that was taken for a request that needs none is given back.
#[tokio::test(start_paused = true)]
async fn replays_and_refusals_give_their_place_back() {
    let strict = Strict::default();
    let service = ServiceBuilder::new()
        .layer(IdempotencyLayer::new(once()))
        .layer(ConcurrencyLimitLayer::new(1))
        .service(strict.clone());
    for _ in 0..20 {
        for request in [order("k", "{}"), order("", "{}"), order("k", "[]")] {
            drop(service.clone().oneshot(request).await.unwrap());
        }
    }
    assert_eq!(strict.runs.load(Ordering::SeqCst), 1);
}
