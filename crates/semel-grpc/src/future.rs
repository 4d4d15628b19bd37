//! The future of an answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use semel_http::{RequestBody, ResponseFuture};
use tower_service::Service;

use crate::answer;
use crate::body::GrpcBody;
use crate::presented::{Presented, PresentedBody};

pin_project! {
    /// The future of an answer.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it reads the request's message, it leaves nothing behind: no claim was made.
    /// From then on the work goes on in a task of its own, and is recorded;
    /// [`OnDisconnect::Cancel`](semel_http::OnDisconnect::Cancel) drops the work with the future.
    ///
    /// # Panics
    ///
    /// When the handler did, with the handler's own panic, after the key was treated as the policy
    /// for exceptions says. And outside of a tokio runtime.
    pub struct GrpcFuture<S, ReqBody, ResBody>
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
        Keyed { #[pin] future: ResponseFuture<Presented<S>, ReqBody, PresentedBody<ResBody>> },
        // Known from the start.
        Answered { response: Option<Response<GrpcBody<ResBody>>> },
    }
}

impl<S, ReqBody, ResBody> GrpcFuture<S, ReqBody, ResBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
    ResBody: Body,
{
    pub(crate) const fn passed(future: S::Future) -> Self {
        Self { state: State::Passed { future } }
    }

    pub(crate) const fn keyed(
        future: ResponseFuture<Presented<S>, ReqBody, PresentedBody<ResBody>>,
    ) -> Self {
        Self { state: State::Keyed { future } }
    }

    pub(crate) const fn answered(response: Response<GrpcBody<ResBody>>) -> Self {
        Self { state: State::Answered { response: Some(response) } }
    }
}

impl<S, ReqBody, ResBody> Future for GrpcFuture<S, ReqBody, ResBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    ReqBody: Body + Send + 'static,
    ReqBody::Data: Buf,
    ResBody: Body + Send + 'static,
    ResBody::Error: Send + 'static,
{
    type Output = Result<Response<GrpcBody<ResBody>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match self.project().state.project() {
            Projected::Passed { future } => {
                ready!(future.poll(cx)).map(|response| response.map(GrpcBody::passed))
            }
            Projected::Keyed { future } => ready!(future.poll(cx)).map(answer::of),
            Projected::Answered { response } => {
                Ok(response.take().expect("not polled again after its end"))
            }
        })
    }
}

impl<S, ReqBody, ResBody> fmt::Debug for GrpcFuture<S, ReqBody, ResBody>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
    ResBody: Body,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Passed { .. } => "GrpcFuture(Passed)",
            State::Keyed { .. } => "GrpcFuture(Keyed)",
            State::Answered { .. } => "GrpcFuture(Answered)",
        })
    }
}
