//! The service.

use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::body::PresentedBody;
use super::future::PresentedFuture;

/// The innermost of the three services that make up [`GrpcIdempotency`](crate::GrpcIdempotency):
/// it presents the handler's replies to the layer around it.
#[derive(Debug, Clone)]
pub struct Presented<S> {
    inner: S,
    /// The most that is held of a reply.
    limit: usize,
}

impl<S> Presented<S> {
    pub(crate) const fn new(inner: S, limit: usize) -> Self {
        Self { inner, limit }
    }

    /// The service within.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service within.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The service within, alone.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for Presented<S>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ResBody: Body,
{
    type Response = Response<PresentedBody<ResBody>>;
    type Error = S::Error;
    type Future = PresentedFuture<S::Future, ResBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        PresentedFuture::new(self.inner.call(request), self.limit)
    }
}
