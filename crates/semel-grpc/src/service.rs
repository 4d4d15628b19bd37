//! The service.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http::{Request, Response};
use http_body::Body;
use semel_http::{Idempotency, RequestBody};
use tower_service::Service;

use crate::answer;
use crate::body::GrpcBody;
use crate::future::GrpcFuture;
use crate::media;
use crate::methods::{Methods, Treatment};
use crate::presented::Presented;

/// A service whose calls of protected methods run once for each key.
///
/// Calls of methods that pass, and calls without a key where the key is optional, go through
/// untouched and unbuffered, and so does what is no gRPC and no protected method. A protected
/// method's message is read up to the limit before anything runs.
///
/// # Errors
///
/// The inner service's own. The layer itself answers with a status, never with an error.
///
/// # Panics
///
/// See [`GrpcFuture`].
#[derive(Debug, Clone)]
pub struct GrpcIdempotency<S> {
    within: Idempotency<Presented<S>>,
    methods: Arc<Methods>,
}

impl<S> GrpcIdempotency<S> {
    pub(crate) const fn new(within: Idempotency<Presented<S>>, methods: Arc<Methods>) -> Self {
        Self { within, methods }
    }

    /// The service within.
    pub const fn get_ref(&self) -> &S {
        self.within.get_ref().get_ref()
    }

    /// The service within.
    pub const fn get_mut(&mut self) -> &mut S {
        self.within.get_mut().get_mut()
    }

    /// The service within, alone.
    pub fn into_inner(self) -> S {
        self.within.into_inner().into_inner()
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for GrpcIdempotency<S>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    ReqBody: Body + Send + 'static,
    ReqBody::Data: Buf,
    ResBody: Body + Send + 'static,
    ResBody::Error: Send + 'static,
{
    type Response = Response<GrpcBody<ResBody>>;
    type Error = S::Error;
    type Future = GrpcFuture<S, ReqBody, ResBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.within.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<ReqBody>) -> Self::Future {
        let is_grpc = media::codec(request.headers()).is_some();
        match self.methods.of(request.uri().path()) {
            Treatment::Protect(_) if !is_grpc => GrpcFuture::answered(answer::no_grpc()),
            Treatment::Protect(operation) => {
                request.extensions_mut().insert(operation.clone());
                GrpcFuture::keyed(self.within.call(request))
            }
            Treatment::Refuse if is_grpc => {
                tracing::error!(
                    method = request.uri().path(),
                    "a method that the idempotency layer was told nothing of: name it with `unary` \
                     or `pass`"
                );
                GrpcFuture::answered(answer::fault(
                    "The service does not say how calls of this method are to be treated.",
                ))
            }
            Treatment::Pass | Treatment::Refuse => {
                // The service that was polled ready is the one within.
                GrpcFuture::passed(self.get_mut().call(request.map(RequestBody::passed)))
            }
        }
    }
}
