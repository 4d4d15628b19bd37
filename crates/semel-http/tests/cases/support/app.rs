//! A service behind the layer that counts how often its handler ran.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use semel_http::{IdempotencyLayer, RequestBody};
use tokio::task::JoinHandle;
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt, service_fn};

use super::answer::Answer;
use super::latch::Latch;

type Boxed = BoxCloneSyncService<Request<Body>, Response<Body>, Infallible>;

/// One run of a handler.
pub(crate) struct Run {
    /// 1 for the first.
    pub(crate) number: u32,
    pub(crate) request: Request<Body>,
}

/// The service. A clone is the same service.
#[derive(Clone)]
pub(crate) struct App {
    service: Boxed,
    runs: Arc<AtomicU32>,
}

/// The answer of a handler that made something.
pub(crate) async fn created(run: Run) -> Response<Body> {
    let mut response = reply(201, format!("order {}", run.number));
    let location = format!("/orders/{}", run.number).parse().unwrap();
    response.headers_mut().insert("location", location);
    response
}

/// An answer of this status and body.
pub(crate) fn reply(status: u16, body: impl Into<Body>) -> Response<Body> {
    Response::builder().status(status).body(body.into()).unwrap()
}

impl App {
    /// A handler that always creates.
    pub(crate) fn creating(layer: &IdempotencyLayer) -> Self {
        Self::new(layer, created)
    }

    pub(crate) fn new<F>(
        layer: &IdempotencyLayer,
        handler: impl Fn(Run) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let runs = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&runs);
        let inner = service_fn(move |request: Request<Body>| {
            let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
            let answer = handler(Run { number, request });
            async move { Ok::<_, Infallible>(answer.await) }
        });
        Self { runs, ..Self::around(layer, inner) }
    }

    /// A handler that waits at the latch and then creates.
    pub(crate) fn held(layer: &IdempotencyLayer, latch: &Latch) -> Self {
        let latch = latch.clone();
        Self::new(layer, move |run| {
            let latch = latch.clone();
            async move {
                latch.pass().await;
                created(run).await
            }
        })
    }

    /// The layer around a service that counts for itself, if at all.
    pub(crate) fn around<S>(layer: &IdempotencyLayer, inner: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        let unboxed = |request: Request<RequestBody<Body>>| request.map(Body::new);
        let outer = layer.layer(inner.map_request(unboxed));
        let service = outer.map_response(|response| response.map(Body::new));
        Self { service: BoxCloneSyncService::new(service), runs: Arc::default() }
    }

    /// The same service behind an outer layer that changes answers.
    pub(crate) fn behind(
        self,
        change: impl Fn(Response<Body>) -> Response<Body> + Clone + Send + Sync + 'static,
    ) -> Self {
        Self { service: BoxCloneSyncService::new(self.service.map_response(change)), ..self }
    }

    /// Sends a request and reads the answer.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        Answer::read(self.respond(request).await).await
    }

    /// Sends a request; the body of the answer is not read yet.
    pub(crate) async fn respond(&self, request: Request<Body>) -> Response<Body> {
        self.service.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
    }

    /// Sends a request whose sender can hang up: by aborting the task.
    pub(crate) fn start(&self, request: Request<Body>) -> JoinHandle<Answer> {
        let app = self.clone();
        tokio::spawn(async move { app.send(request).await })
    }

    /// How often the handler ran.
    pub(crate) fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    /// A server of it on a port of its own, HTTP/1.1 and HTTP/2, where everybody is Alice.
    pub(crate) async fn serve(&self) -> SocketAddr {
        let service =
            self.service.clone().map_request(|request| super::from(super::alice(), request));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback_service(service);
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }
}
