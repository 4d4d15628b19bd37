//! The tower service.

use std::fmt;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response, request};
use http_body::Body;
use tower_service::Service;

use super::asked::{Kept, prepare};
use super::drive::{Client, Wire, drive};
use super::error::{Boxed, Cause, ClientError};
use super::failure::Failure;
use super::key::RequestKey;
use super::read::AnswerBody;
use crate::body::RequestBody;
use crate::collect::{Collected, Collecting};

/// A client whose requests carry keys and are tried again where that is safe.
///
/// The inner client is called with a [`RequestBody`]: read before the first try where the body says
/// that it is short enough, passed on where not. It is cloned once for each call and polled ready
/// before each try.
///
/// # Errors
///
/// [`ClientError`] when no try got an answer.
#[derive(Debug, Clone)]
pub struct SafeRetry<S> {
    inner: S,
    client: Arc<Client>,
}

impl<S> SafeRetry<S> {
    pub(super) const fn new(inner: S, client: Arc<Client>) -> Self {
        Self { inner, client }
    }

    /// The client within.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for SafeRetry<S>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    S::Error: Into<Boxed> + Send,
    ReqBody: Body + Send + 'static,
    ResBody: Body<Error: Into<Boxed>> + Send + 'static,
{
    type Response = Response<AnswerBody<ResBody>>;
    type Error = ClientError;
    type Future = SafeRetryFuture<ResBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        self.inner.poll_ready(cx).map_err(|error| ClientError::not_ready(error.into()))
    }

    fn call(&mut self, request: Request<ReqBody>) -> SafeRetryFuture<ResBody> {
        // Exactly the service that was polled ready is called.
        let clone = self.inner.clone();
        let ready = mem::replace(&mut self.inner, clone);
        SafeRetryFuture { call: Box::pin(call(Arc::clone(&self.client), ready, request)) }
    }
}

async fn call<S, ReqBody, ResBody>(
    client: Arc<Client>,
    inner: S,
    request: Request<ReqBody>,
) -> Result<Response<AnswerBody<ResBody>>, ClientError>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>> + Send,
    S::Future: Send,
    S::Error: Into<Boxed> + Send,
    ReqBody: Body + Send,
    ResBody: Body<Error: Into<Boxed>> + Send,
{
    let (mut head, body) = request.into_parts();
    let limit = client.settings.max_request_body;
    let fits = body.size_hint().upper().is_some_and(|most| most <= limit as u64);
    let kept = if fits { Kept::Yes } else { Kept::No };
    let own = head.extensions.get::<RequestKey>().cloned();
    let asked = prepare(&client.settings, &head.method, &mut head.headers, own.as_ref(), kept);
    let body = match kept {
        Kept::No => Sent::Once(Some(body)),
        Kept::Yes => match Collecting::new(body, limit).await {
            Ok(collected) => Sent::Kept(collected),
            Err(_) => return Err(ClientError::before_anything(asked.key, Cause::RequestBody)),
        },
    };
    drive(&client, asked, TowerWire { inner, head, body, ready: Ready::Yes }).await
}

/// A request's body.
enum Sent<B> {
    Kept(Collected),
    Once(Option<B>),
}

/// Whether the inner service was polled ready and not called since.
enum Ready {
    Yes,
    No,
}

struct TowerWire<S, B> {
    inner: S,
    head: request::Parts,
    body: Sent<B>,
    ready: Ready,
}

impl<S, B> TowerWire<S, B> {
    fn request(&mut self) -> Request<RequestBody<B>> {
        let body = match &mut self.body {
            Sent::Kept(kept) => RequestBody::buffered(kept.body.clone(), kept.trailers.clone()),
            Sent::Once(body) => {
                RequestBody::passed(body.take().expect("what can be sent once is sent once"))
            }
        };
        Request::from_parts(self.head.clone(), body)
    }
}

impl<S, ReqBody, ResBody> Wire for TowerWire<S, ReqBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>> + Send,
    S::Future: Send,
    S::Error: Into<Boxed> + Send,
    ReqBody: Send,
    ResBody: Body<Error: Into<Boxed>> + Send,
{
    type Body = ResBody;
    type Error = S::Error;

    async fn send(&mut self) -> Result<Response<ResBody>, S::Error> {
        if let Ready::No = self.ready {
            poll_fn(|cx| self.inner.poll_ready(cx)).await?;
        }
        self.ready = Ready::No;
        let request = self.request();
        self.inner.call(request).await
    }

    /// Whatever the settings say.
    fn failure(_: &S::Error) -> Option<Failure> {
        None
    }
}

type Answered<B> = Result<Response<AnswerBody<B>>, ClientError>;

/// The future of a [`SafeRetry`] service.
///
/// # Panics
///
/// Outside a tokio runtime with time, where it has to wait.
///
/// # Cancel safety
///
/// Dropped, the try that runs is dropped with it, and what became of it is not known: ask again
/// with the same key.
#[must_use = "futures do nothing unless polled"]
pub struct SafeRetryFuture<B> {
    call: Pin<Box<dyn Future<Output = Answered<B>> + Send>>,
}

impl<B> Future for SafeRetryFuture<B> {
    type Output = Answered<B>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.call.as_mut().poll(cx)
    }
}

impl<B> fmt::Debug for SafeRetryFuture<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SafeRetryFuture").finish_non_exhaustive()
    }
}
