//! The service, and the future of its answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::{fmt, mem};

use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use semel::{GateAnswer, GateError};
use tower_service::Service;

use super::door::FenceDoor;
use super::verdict::{ShownFence, Stop, judged};
use crate::body::ResponseBody;

/// A service behind a gate: see [`FenceLayer`](crate::FenceLayer).
#[derive(Debug, Clone)]
pub struct FenceGuarded<S> {
    inner: S,
    door: FenceDoor,
}

impl<S> FenceGuarded<S> {
    pub(super) const fn new(inner: S, door: FenceDoor) -> Self {
        Self { inner, door }
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for FenceGuarded<S>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>> + Clone,
    ResBody: Body,
{
    type Response = Response<ResponseBody<ResBody>>;
    type Error = S::Error;
    type Future = FenceFuture<S, ReqBody, ResBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        let (head, body) = request.into_parts();
        let state = match self.door.shown(&head) {
            Ok(None) => State::Passed { future: self.inner.call(Request::from_parts(head, body)) },
            Ok(Some(shown)) => {
                // Exactly the service that was polled ready is called: a clone in its place would
                // not be ready.
                let clone = self.inner.clone();
                let inner = mem::replace(&mut self.inner, clone);
                let check = check(&self.door, &shown);
                let request = Request::from_parts(head, body);
                State::Checking { check, waiting: Some(Waiting { inner, request, shown }) }
            }
            Err(stop) => State::Answered { response: Some(stop.response(&head.headers)) },
        };
        FenceFuture { state }
    }
}

type Check = Pin<Box<dyn Future<Output = Result<GateAnswer, GateError>> + Send>>;

fn check(door: &FenceDoor, shown: &ShownFence) -> Check {
    let (gate, resource, fence) =
        (Arc::clone(&door.gate), Arc::clone(&shown.resource), shown.fence);
    Box::pin(async move { gate.check(&resource, fence).await })
}

/// A request whose fence is looked at.
struct Waiting<S, ReqBody> {
    inner: S,
    request: Request<ReqBody>,
    shown: ShownFence,
}

pin_project! {
    /// The future of an answer behind a [`FenceDoor`].
    ///
    /// # Cancel safety
    ///
    /// Dropped before the gate has answered, the fence may be remembered or not, and the handler
    /// does not run. From then on it is the handler's own future.
    pub struct FenceFuture<S, ReqBody, ResBody>
    where
        S: Service<Request<ReqBody>, Response = Response<ResBody>>,
        ResBody: Body,
    {
        #[pin]
        state: State<S, ReqBody, ResBody>,
    }
}

pin_project! {
    #[project = Projected]
    enum State<S, ReqBody, ResBody>
    where
        S: Service<Request<ReqBody>, Response = Response<ResBody>>,
        ResBody: Body,
    {
        // The gate is asked: (Checking) => (Passed | Answered).
        Checking { check: Check, waiting: Option<Waiting<S, ReqBody>> },
        // The inner service's own future.
        Passed { #[pin] future: S::Future },
        // Refused.
        Answered { response: Option<Response<ResponseBody<ResBody>>> },
    }
}

impl<S, ReqBody, ResBody> Future for FenceFuture<S, ReqBody, ResBody>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ResBody: Body,
{
    type Output = Result<Response<ResponseBody<ResBody>>, S::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let next = match self.as_mut().project().state.project() {
                Projected::Checking { check, waiting } => {
                    let answer = ready!(check.as_mut().poll(cx));
                    let waiting = waiting.take().expect("not polled again after its end");
                    waiting.then(answer)
                }
                Projected::Passed { future } => {
                    let response = ready!(future.poll(cx))?;
                    return Poll::Ready(Ok(response.map(ResponseBody::passed)));
                }
                Projected::Answered { response } => {
                    let response = response.take().expect("not polled again after its end");
                    return Poll::Ready(Ok(response));
                }
            };
            self.as_mut().project().state.set(next);
        }
    }
}

impl<S, ReqBody> Waiting<S, ReqBody> {
    fn then<ResBody>(self, answer: Result<GateAnswer, GateError>) -> State<S, ReqBody, ResBody>
    where
        S: Service<Request<ReqBody>, Response = Response<ResBody>>,
        ResBody: Body,
    {
        let Self { mut inner, mut request, shown } = self;
        match judged(answer, &shown) {
            Ok(()) => {
                request.extensions_mut().insert(shown);
                State::Passed { future: inner.call(request) }
            }
            Err(stop) => refused(&stop, &request),
        }
    }
}

fn refused<S, ReqBody, ResBody>(
    stop: &Stop,
    request: &Request<ReqBody>,
) -> State<S, ReqBody, ResBody>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ResBody: Body,
{
    State::Answered { response: Some(stop.response(request.headers())) }
}

impl<S, ReqBody, ResBody> fmt::Debug for FenceFuture<S, ReqBody, ResBody>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ResBody: Body,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Checking { .. } => "FenceFuture(Checking)",
            State::Passed { .. } => "FenceFuture(Passed)",
            State::Answered { .. } => "FenceFuture(Answered)",
        })
    }
}
