//! One request with a key, from the claim to the answer, which outlives its connection.

mod capture;
mod refusal;
mod work;

pub(crate) use refusal::Refusal;
pub(crate) use work::Work;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::FutureExt;
use http::{HeaderValue, Request, Response, request};
use http_body::Body;
use semel::core::Doubt;
use semel::door::{ClaimsAround, span_of, tell_begun};
use semel::{
    Begun, Call, Claim, Extent, Language, OnException, Permit, Problem, ProblemKind, Replay,
};
use tokio::sync::oneshot;
use tower_service::Service;
use tracing::Instrument;

use crate::body::{RequestBody, ResponseBody};
use crate::collect::Collected;
use crate::door::Door;
use crate::settings::OnDisconnect;
use crate::{marks, problem, replay, shared};

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

type Teller<ResBody, E> = oneshot::Sender<Answer<ResBody, E>>;

/// How the handler ended.
enum Worked<ResBody, E> {
    Answered(Response<ResBody>),
    Failed(E),
    Panicked(Box<dyn Any + Send>),
    /// Its client is gone, and the settings say to stop.
    Cancelled,
}

impl<S> Exchange<S> {
    /// Starts it. The engine counts it, for a graceful shutdown.
    pub(crate) fn start<ReqBody, ResBody>(
        self,
        collected: Collected,
    ) -> Work<Answer<ResBody, S::Error>>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Send + 'static,
        ReqBody: Body + Send + 'static,
        ResBody: Body + Send + 'static,
        ResBody::Data: Send,
        ResBody::Error: Send + 'static,
    {
        let (once, span) = (self.door.once.clone(), span_of(&self.call));
        Work::new(&once, |mut teller| {
            let work = async move {
                let answer = {
                    // Pinned here: it is large, and would be copied on its way to being caught.
                    let run = pin!(self.run(collected, &mut teller));
                    AssertUnwindSafe(run).catch_unwind().await
                };
                if let Some(answer) = answer.unwrap_or_else(|panic| Some(Answer::Panic(panic))) {
                    // Whoever asked may be gone; what was to be recorded is recorded.
                    teller.send(answer).ok();
                }
            };
            work.instrument(span)
        })
    }

    async fn run<ReqBody, ResBody>(
        self,
        collected: Collected,
        teller: &mut Teller<ResBody, S::Error>,
    ) -> Option<Answer<ResBody, S::Error>>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body + Send + 'static,
    {
        let Self { door, inner, mut head, call } = self;
        let language = problem::language(&head.headers);
        let call = match shared::fingerprint(&door, call.operation(), &head, &collected.body) {
            Ok(Some(digests)) => call.with_fingerprint(digests),
            Ok(None) => call,
            Err(fault) => {
                let refused = refused(&door, ProblemKind::KeyInvalid { fault }.into(), language);
                return Some(refused);
            }
        };
        let begun = door.once.begin(&call).await;
        tell_begun(&begun);
        let further_out = head.extensions.remove::<ClaimsAround>();
        head.extensions.insert(ClaimsAround::new(&door.once, &call, further_out));
        let body = RequestBody::buffered(collected.body, collected.trailers);
        let request = Request::from_parts(head, body);
        let scene = Scene { door: &door, call: &call, language };
        match begun {
            Begun::Fresh(claim) => scene.fresh(claim, inner, request, teller).await,
            // What seldom comes to pass is boxed: it would make every exchange larger.
            Begun::Unprotected(_) => Box::pin(scene.unprotected(inner, request, teller)).await,
            Begun::Replay(replay) => Some(Answer::Response(scene.replay(&replay).await)),
            Begun::Busy(busy) => Some(refused(&door, busy.into(), language)),
            Begun::Refused(problem) => Some(refused(&door, problem, language)),
        }
    }
}

fn refused<ResBody: Body, E>(
    door: &Door,
    problem: Problem,
    language: Language,
) -> Answer<ResBody, E> {
    Answer::Response(refusal::response(door, problem, language))
}

/// What the steps of one exchange share.
struct Scene<'a> {
    door: &'a Door,
    call: &'a Call,
    language: Language,
}

impl Scene<'_> {
    /// What was recorded, or why it can't be given.
    async fn replay<B: Body>(&self, replay: &Replay) -> Response<ResponseBody<B>> {
        let outcome = &replay.outcome;
        let given = if outcome.form == self.door.settings.form {
            replay::answer(self.door, outcome).ok_or(ProblemKind::ResponseUnavailable)
        } else {
            let translated = shared::translate(self.door, self.call, outcome).await;
            translated.map(|answer| replay::translated(self.door, answer))
        };
        given.unwrap_or_else(|kind| refusal::response(self.door, kind.into(), self.language))
    }

    /// Runs the handler under its claim, and records what it answered.
    async fn fresh<S, ReqBody, ResBody>(
        &self,
        claim: Claim,
        inner: S,
        mut request: Request<RequestBody<ReqBody>>,
        teller: &mut Teller<ResBody, S::Error>,
    ) -> Option<Answer<ResBody, S::Error>>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body + Send + 'static,
    {
        if self.is_called_off(teller) {
            // Nothing has begun: the key stays free.
            Box::pin(claim.release()).await;
            return None;
        }
        request.extensions_mut().insert(claim.permit());
        if let Some(transaction) = claim.transaction() {
            // With the request it goes to the handler, and is gone when the handler has ended.
            request.extensions_mut().insert(transaction);
        }
        match self.work(inner, request, teller).await {
            Worked::Answered(response) => Some(self.capture(claim, response).await),
            Worked::Failed(error) => {
                Some(Box::pin(self.exception(claim)).await.unwrap_or(Answer::Error(error)))
            }
            Worked::Panicked(panic) => {
                Some(Box::pin(self.exception(claim)).await.unwrap_or(Answer::Panic(panic)))
            }
            // The claim is dropped with the work: its lease runs out.
            Worked::Cancelled => None,
        }
    }

    /// Runs the handler although the store can't be reached, and says so.
    async fn unprotected<S, ReqBody, ResBody>(
        &self,
        inner: S,
        mut request: Request<RequestBody<ReqBody>>,
        teller: &mut Teller<ResBody, S::Error>,
    ) -> Option<Answer<ResBody, S::Error>>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body,
    {
        if self.is_called_off(teller) {
            return None;
        }
        request.extensions_mut().insert(Permit::unprotected(self.call));
        match self.work(inner, request, teller).await {
            Worked::Answered(response) => {
                let (mut head, body) = response.into_parts();
                self.unmark(&mut head);
                head.headers.insert(marks::UNPROTECTED, HeaderValue::from_static("true"));
                Some(Answer::Response(Response::from_parts(head, ResponseBody::passed(body))))
            }
            Worked::Failed(error) => Some(Answer::Error(error)),
            Worked::Panicked(panic) => Some(Answer::Panic(panic)),
            Worked::Cancelled => None,
        }
    }

    fn is_called_off<ResBody: Body, E>(&self, teller: &Teller<ResBody, E>) -> bool {
        self.door.settings.on_disconnect == OnDisconnect::Cancel && teller.is_closed()
    }

    /// The handler, as long as its client is to be waited for.
    async fn work<S, ReqBody, ResBody>(
        &self,
        mut inner: S,
        request: Request<RequestBody<ReqBody>>,
        teller: &mut Teller<ResBody, S::Error>,
    ) -> Worked<ResBody, S::Error>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body,
    {
        // The call itself may panic too, not only its future.
        let work = AssertUnwindSafe(async { inner.call(request).await }).catch_unwind();
        let worked = match self.door.settings.on_disconnect {
            OnDisconnect::Finish => work.await,
            OnDisconnect::Cancel => tokio::select! {
                biased;
                worked = work => worked,
                () = teller.closed() => return Worked::Cancelled,
            },
        };
        match worked {
            Ok(Ok(response)) => Worked::Answered(response),
            Ok(Err(error)) => Worked::Failed(error),
            Err(panic) => Worked::Panicked(panic),
        }
    }

    /// The handler gave no answer. Where the policy is to record that, this is the answer.
    async fn exception<ResBody: Body, E>(&self, mut claim: Claim) -> Option<Answer<ResBody, E>> {
        match claim.policy().on_exception() {
            OnException::Release => drop(claim.release().await),
            OnException::Doubt => drop(claim.doubt(Doubt::Exception).await),
            OnException::Record => {
                let (head, body) = problem::failed().into_parts();
                claim.take_rows_back();
                let finished = claim.record(self.http(Extent::Whole, &head, &body, None)).await;
                let response = Response::from_parts(head, ResponseBody::full(body));
                return Some(Answer::Response(self.settle(finished, response).await));
            }
        }
        None
    }
}
