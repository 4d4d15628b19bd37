//! One request with a key, from the claim to the answer, in a task that outlives its connection.

mod capture;
mod recording;
mod refusal;

pub(crate) use recording::Recording;
pub(crate) use refusal::Refusal;

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header, request};
use http_body::Body;
use semel::core::Doubt;
use semel::{
    Begun, Call, Claim, Extent, Form, Language, OnException, Outcome, Problem, ProblemKind,
};
use tokio::sync::oneshot;
use tower_service::Service;
use tracing::Instrument;

use crate::body::{RequestBody, ResponseBody};
use crate::collect::Collected;
use crate::layer::Door;
use crate::settings::OnDisconnect;
use crate::{problem, replay};

/// On an answer whose work ran although the store could not be reached.
const UNPROTECTED: HeaderName = HeaderName::from_static("idempotency-unprotected");
/// On an answer whose record the store has not taken (yet): a repeat may not get it.
const DURABLE: HeaderName = HeaderName::from_static("idempotency-durable");

/// A request with a key, and the service that was polled ready for it.
#[derive(Debug)]
pub(crate) struct Exchange<S> {
    pub(crate) door: Door,
    pub(crate) inner: S,
    pub(crate) head: request::Parts,
    pub(crate) call: Call,
}

/// What comes of it.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
pub(crate) enum Answer<ResBody: Body, E> {
    Response(Response<ResponseBody<ResBody>>),
    Error(E),
    /// The handler's panic goes on where the answer is waited for.
    Panic(Box<dyn Any + Send>),
}

/// How the handler ended.
enum Worked<ResBody, E> {
    Answered(Response<ResBody>),
    Failed(E),
    Panicked(Box<dyn Any + Send>),
    /// Its client is gone, and the settings say to stop.
    Cancelled,
}

impl<S> Exchange<S> {
    /// Starts it. The task is tracked by the engine, for a graceful shutdown.
    pub(crate) fn start<ReqBody, ResBody>(
        self,
        collected: Collected,
    ) -> oneshot::Receiver<Answer<ResBody, S::Error>>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Send + 'static,
        ReqBody: Body + Send + 'static,
        ResBody: Body + Send + 'static,
        ResBody::Data: Send,
        ResBody::Error: Send + 'static,
    {
        let (mut teller, answer) = oneshot::channel();
        let tasks = self.door.once.tasks().clone();
        let work = async move {
            if let Some(answer) = self.run(collected, &mut teller).await {
                // Whoever asked may be gone; what was to be recorded is recorded.
                teller.send(answer).ok();
            }
        };
        tasks.spawn(work.in_current_span());
        answer
    }

    async fn run<ReqBody, ResBody>(
        self,
        collected: Collected,
        teller: &mut oneshot::Sender<Answer<ResBody, S::Error>>,
    ) -> Option<Answer<ResBody, S::Error>>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body + Send + 'static,
    {
        let Self { door, inner, head, call } = self;
        let language = problem::language(&head.headers);
        let call = match door.settings.fingerprint.of(&head, &collected.body) {
            Ok(Some(digests)) => call.with_fingerprint(digests),
            Ok(None) => call,
            Err(fault) => {
                let refused = refused(&door, ProblemKind::KeyInvalid { fault }.into(), language);
                return Some(refused);
            }
        };
        let body = RequestBody::buffered(collected.body, collected.trailers);
        let request = Request::from_parts(head, body);
        Some(match door.once.begin(&call).await {
            Begun::Fresh(claim) => {
                let scene = Scene { door: &door, call: &call, language };
                return scene.fresh(claim, inner, request, teller).await;
            }
            Begun::Replay(replay) => {
                Answer::Response(replay::answer(&door, &replay.outcome, language))
            }
            Begun::Busy(busy) => refused(&door, busy.into(), language),
            Begun::Refused(problem) => refused(&door, problem, language),
            Begun::Unprotected(_) => unprotected(work(inner, request).await),
        })
    }
}

fn refused<ResBody: Body, E>(
    door: &Door,
    problem: Problem,
    language: Language,
) -> Answer<ResBody, E> {
    Answer::Response(refusal::response(door, problem, language))
}

async fn work<S, ReqBody, ResBody>(
    mut inner: S,
    request: Request<RequestBody<ReqBody>>,
) -> Worked<ResBody, S::Error>
where
    S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
{
    // The call itself may panic too, not only its future.
    match AssertUnwindSafe(async { inner.call(request).await }).catch_unwind().await {
        Ok(Ok(response)) => Worked::Answered(response),
        Ok(Err(error)) => Worked::Failed(error),
        Err(panic) => Worked::Panicked(panic),
    }
}

fn unprotected<ResBody: Body, E>(worked: Worked<ResBody, E>) -> Answer<ResBody, E> {
    match worked {
        Worked::Answered(response) => {
            let mut response = response.map(ResponseBody::passed);
            response.headers_mut().insert(UNPROTECTED, HeaderValue::from_static("true"));
            Answer::Response(response)
        }
        Worked::Failed(error) => Answer::Error(error),
        Worked::Panicked(panic) => Answer::Panic(panic),
        Worked::Cancelled => unreachable!("unprotected work is not cancelled"),
    }
}

/// What the steps of one exchange share.
struct Scene<'a> {
    door: &'a Door,
    call: &'a Call,
    language: Language,
}

impl Scene<'_> {
    /// Runs the handler under its claim, and records what it answered.
    async fn fresh<S, ReqBody, ResBody>(
        &self,
        claim: Claim,
        inner: S,
        mut request: Request<RequestBody<ReqBody>>,
        teller: &mut oneshot::Sender<Answer<ResBody, S::Error>>,
    ) -> Option<Answer<ResBody, S::Error>>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body + Send + 'static,
    {
        request.extensions_mut().insert(claim.permit());
        let work = work(inner, request);
        let worked = match self.door.settings.on_disconnect {
            OnDisconnect::Finish => work.await,
            OnDisconnect::Cancel => tokio::select! {
                worked = work => worked,
                () = teller.closed() => Worked::Cancelled,
            },
        };
        match worked {
            Worked::Answered(response) => {
                Some(Answer::Response(self.capture(claim, response).await))
            }
            Worked::Failed(error) => {
                Some(self.exception(claim).await.unwrap_or(Answer::Error(error)))
            }
            Worked::Panicked(panic) => {
                Some(self.exception(claim).await.unwrap_or(Answer::Panic(panic)))
            }
            // The claim is dropped with the work: its lease runs out.
            Worked::Cancelled => None,
        }
    }

    /// The handler gave no answer. Where the policy is to record that, this is the answer.
    async fn exception<ResBody: Body, E>(&self, mut claim: Claim) -> Option<Answer<ResBody, E>> {
        match claim.policy().on_exception() {
            OnException::Release => drop(claim.release().await),
            OnException::Doubt => drop(claim.doubt(Doubt::Exception).await),
            OnException::Record => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                let detail = "The request could not be carried out.";
                let response = problem::plain(status, detail);
                let body = problem::plain_body(status, detail);
                let outcome = self.outcome(Extent::Whole, &response, &body);
                let finished = claim.record(outcome).await;
                return Some(Answer::Response(self.settle(finished, response).await));
            }
        }
        None
    }

    fn outcome<B>(&self, extent: Extent, response: &Response<B>, body: &[u8]) -> Outcome {
        let payload = replay::payload(self.door, response.status(), response.headers(), body, None);
        Outcome { form: Form::Http, extent, payload }
    }
}

/// Whether an answer is a stream of events, which may never end.
fn is_event_stream(headers: &http::HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.as_bytes().split(|byte| *byte == b';').next())
        .is_some_and(|media| media.trim_ascii().eq_ignore_ascii_case(b"text/event-stream"))
}
