//! The layer around a handler that counts its runs.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response, StatusCode, request};
use http_body_util::BodyExt;
use semel::{Code, Once};
use semel_http::{Idempotency, IdempotencyLayer, Replayed, RequestBody, ResponseBody};
use serde_json::Value;
use tower::{Layer, Service, ServiceExt};

use super::{BoxError, Order, order};

/// How often the handler ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs(Arc<AtomicU32>);

impl Runs {
    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// What a handler is asked.
pub(crate) struct Asked {
    pub(crate) head: request::Parts,
    pub(crate) body: Bytes,
    /// Which run it is, from 1.
    pub(crate) run: u32,
}

type Handled = BoxFuture<'static, Result<Response<Body>, BoxError>>;
type Handler = Arc<dyn Fn(Asked) -> Handled + Send + Sync>;

/// A handler as a service, for any request body.
#[derive(Clone)]
pub(crate) struct Work {
    handler: Handler,
    runs: Runs,
}

impl Work {
    pub(crate) fn new<F, W>(handler: F) -> Self
    where
        F: Fn(Asked) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Response<Body>, BoxError>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |asked| handler(asked).boxed());
        Self { handler, runs: Runs::default() }
    }

    pub(crate) fn runs(&self) -> Runs {
        self.runs.clone()
    }
}

impl<B> Service<Request<RequestBody<B>>> for Work
where
    B: http_body::Body + Send + 'static,
    B::Error: std::fmt::Debug,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Handled;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody<B>>) -> Handled {
        let (handler, runs) = (Arc::clone(&self.handler), self.runs.clone());
        let (head, body) = request.into_parts();
        let collected = body.collect();
        async move {
            let body = collected.await.unwrap().to_bytes();
            handler(Asked { head, body, run: runs.next() }).await
        }
        .boxed()
    }
}

/// The layer around a handler, called without a server.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) service: Idempotency<Work>,
    pub(crate) runs: Runs,
    pub(crate) once: Once,
}

impl Door {
    /// Over this engine, with a layer as `change` makes it.
    pub(crate) fn with<F, W>(
        once: Once,
        change: impl FnOnce(IdempotencyLayer) -> IdempotencyLayer,
        handler: F,
    ) -> Self
    where
        F: Fn(Asked) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Response<Body>, BoxError>> + Send + 'static,
    {
        let work = Work::new(handler);
        let runs = work.runs();
        let service = change(IdempotencyLayer::new(once.clone())).layer(work);
        Self { service, runs, once }
    }

    /// Answers 201 with the number of the run.
    pub(crate) fn counting(
        once: Once,
        change: impl FnOnce(IdempotencyLayer) -> IdempotencyLayer,
    ) -> Self {
        Self::with(once, change, |asked| async move { Ok(created(asked.run)) })
    }

    /// The answer, its body as it comes.
    pub(crate) fn call(
        &self,
        order: Order,
    ) -> impl Future<Output = Result<Response<ResponseBody<Body>>, BoxError>> + Send + use<> {
        self.service.clone().oneshot(order)
    }

    pub(crate) async fn try_send(&self, order: Order) -> Result<Answer, BoxError> {
        let response = self.call(order).await?;
        Answer::of(response).await.map_err(Into::into)
    }

    pub(crate) async fn send(&self, order: Order) -> Answer {
        self.try_send(order).await.unwrap()
    }

    pub(crate) async fn post(&self, key: &str, body: &'static str) -> Answer {
        self.send(order(key, body)).await
    }
}

pub(crate) fn created(run: u32) -> Response<Body> {
    Response::builder()
        .status(StatusCode::CREATED)
        .header("location", format!("/orders/{run}"))
        .header("content-type", "text/plain")
        .body(Body::from(format!("order {run}")))
        .unwrap()
}

/// An answer that was read to its end.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) is_replayed: bool,
}

impl Answer {
    pub(crate) async fn of<B>(response: Response<B>) -> Result<Self, B::Error>
    where
        B: http_body::Body,
    {
        let (head, body) = response.into_parts();
        let collected = body.collect().await?;
        let trailers = collected.trailers().cloned();
        Ok(Self {
            status: head.status,
            headers: head.headers,
            is_replayed: head.extensions.get::<Replayed>().is_some(),
            body: collected.to_bytes(),
            trailers,
        })
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn is_marked(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }

    /// Status, body and those headers that are replayed: what all callers of a key must agree on.
    pub(crate) fn essence(&self) -> (StatusCode, Option<&str>, &[u8]) {
        (self.status, self.header("location"), &self.body)
    }

    /// Fails unless it is this problem, told by the layer.
    #[track_caller]
    pub(crate) fn assert_is(&self, code: Code) {
        self.assert_is_with_status(code, code.status().as_u16());
    }

    #[track_caller]
    pub(crate) fn assert_is_with_status(&self, code: Code, status: u16) {
        assert_eq!(self.header("idempotency-error"), Some(code.code()), "{self:?}");
        assert_eq!(self.json()["messageKey"], code.message_key(), "{self:?}");
        assert_eq!(self.status.as_u16(), status, "{self:?}");
    }

    /// Fails unless the handler made it, now or before.
    #[track_caller]
    pub(crate) fn assert_is_the_handlers(&self, status: u16, body: &str) {
        assert_eq!(self.header("idempotency-error"), None, "{self:?}");
        assert_eq!((self.status.as_u16(), self.text()), (status, body));
    }
}

/// For services that can't fail.
pub(crate) fn infallible<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
    }
}
