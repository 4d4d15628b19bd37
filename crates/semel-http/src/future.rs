//! The future of an answer.

use std::fmt;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::{Request, Response, StatusCode};
use http_body::Body;
use pin_project_lite::pin_project;
use semel::{ByteCount, ProblemKind};
use tower_service::Service;

use crate::body::{RequestBody, ResponseBody};
use crate::collect::{Collected, Collecting, NotCollected};
use crate::exchange::{Answer, Exchange, Refusal, Work};
use crate::problem;

pin_project! {
    /// The future of an answer.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it reads the request's body, it leaves nothing behind: no claim was made.
    /// From then on the work goes on in a task of its own, and is recorded;
    /// [`OnDisconnect::Cancel`](crate::OnDisconnect::Cancel) drops the work with the future.
    ///
    /// # Panics
    ///
    /// When the handler did, with the handler's own panic, after the key was treated as the policy
    /// for exceptions says. And outside of a tokio runtime.
    pub struct ResponseFuture<S, ReqBody, ResBody>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
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
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body,
    {
        // Not protected: the inner service's own future.
        Passed { #[pin] future: S::Future },
        // Reading the body: (Collecting) => (Working | Answered).
        Collecting { #[pin] body: Collecting<ReqBody>, exchange: Option<Exchange<S>> },
        // The work, which goes on if this is dropped.
        Working { work: Work<Answer<ResBody, S::Error>> },
        // Known from the start.
        Answered { response: Option<Response<ResponseBody<ResBody>>> },
    }
}

impl<S, ReqBody, ResBody> ResponseFuture<S, ReqBody, ResBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
    ResBody: Body,
{
    pub(crate) const fn passed(future: S::Future) -> Self {
        Self { state: State::Passed { future } }
    }

    pub(crate) const fn answered(response: Response<ResponseBody<ResBody>>) -> Self {
        Self { state: State::Answered { response: Some(response) } }
    }

    pub(crate) fn keyed(exchange: Exchange<S>, body: ReqBody) -> Self {
        let limit = exchange.door.settings.max_request_body;
        let body = Collecting::new(body, limit);
        Self { state: State::Collecting { body, exchange: Some(exchange) } }
    }
}

impl<S, ReqBody, ResBody> Future for ResponseFuture<S, ReqBody, ResBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    ReqBody: Body + Send + 'static,
    ReqBody::Data: Buf,
    ResBody: Body + Send + 'static,
    ResBody::Data: Send,
    ResBody::Error: Send + 'static,
{
    type Output = Result<Response<ResponseBody<ResBody>>, S::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let next = match self.as_mut().project().state.project() {
                Projected::Passed { future } => {
                    let response = ready!(future.poll(cx))?;
                    return Poll::Ready(Ok(response.map(ResponseBody::passed)));
                }
                Projected::Collecting { body, exchange } => {
                    let collected = ready!(body.poll(cx));
                    let exchange = exchange.take().expect("not polled again after its end");
                    after_body(collected, exchange)
                }
                Projected::Working { work } => {
                    return Poll::Ready(match ready!(Pin::new(work).poll(cx)) {
                        Some(Answer::Response(response)) => Ok(response),
                        Some(Answer::Error(error)) => Err(error),
                        Some(Answer::Panic(panic)) => resume_unwind(panic),
                        None => Ok(called_off()),
                    });
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

/// The body is there: the work begins, which outlives this connection.
fn after_body<S, ReqBody, ResBody>(
    collected: Result<Collected, NotCollected>,
    exchange: Exchange<S>,
) -> State<S, ReqBody, ResBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    ReqBody: Body + Send + 'static,
    ResBody: Body + Send + 'static,
    ResBody::Data: Send,
    ResBody::Error: Send + 'static,
{
    let refusal = match collected {
        Ok(collected) => return State::Working { work: exchange.start(collected) },
        Err(NotCollected::TooLarge { limit }) => {
            Refusal::from(ProblemKind::BodyTooLarge { limit: ByteCount::new(limit) })
        }
        Err(NotCollected::Broken) => {
            Refusal::Plain(StatusCode::BAD_REQUEST, "The request's body broke off.")
        }
    };
    let response = refusal.into_response(&exchange.door, &exchange.head);
    State::Answered { response: Some(response) }
}

/// Only work that nobody waits for is called off, so that this finds nobody to tell.
fn called_off<B: Body>() -> Response<ResponseBody<B>> {
    problem::plain(StatusCode::SERVICE_UNAVAILABLE, "The request was called off.")
}

impl<S, ReqBody, ResBody> fmt::Debug for ResponseFuture<S, ReqBody, ResBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
    ResBody: Body,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Passed { .. } => "ResponseFuture(Passed)",
            State::Collecting { .. } => "ResponseFuture(Collecting)",
            State::Working { .. } => "ResponseFuture(Working)",
            State::Answered { .. } => "ResponseFuture(Answered)",
        })
    }
}
