//! The service.

use std::mem;
use std::task::{Context, Poll};

use bytes::Buf;
use http::{Request, Response, StatusCode, header, request};
use http_body::Body;
use semel::door::ClaimsAround;
use semel::{ByteCount, Call, MissingKey, Problem, ProblemKind, Scope};
use tower_service::Service;

use crate::body::{RequestBody, ResponseBody};
use crate::door::Door;
use crate::exchange::{Exchange, Refusal};
use crate::future::ResponseFuture;
use crate::key::KeySource;
use crate::operation;
use crate::settings::Anonymous;

/// A service whose requests run once for each key.
///
/// Requests of methods that are not protected, and requests without a key where the key is
/// optional, pass through untouched and unbuffered. All others are read up to the limit before
/// anything runs.
///
/// # Errors
///
/// The inner service's own, unless the policy is to record an error as an answer. The layer itself
/// answers with a response, never with an error.
///
/// # Panics
///
/// See [`ResponseFuture`].
#[derive(Debug, Clone)]
pub struct Idempotency<S> {
    inner: S,
    door: Door,
}

impl<S> Idempotency<S> {
    pub(crate) const fn new(inner: S, door: Door) -> Self {
        Self { inner, door }
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

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for Idempotency<S>
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
    ResBody::Data: Send,
    ResBody::Error: Send + 'static,
{
    type Response = Response<ResponseBody<ResBody>>;
    type Error = S::Error;
    type Future = ResponseFuture<S, ReqBody, ResBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        if !self.door.settings.methods.contains(request.method()) {
            return self.pass(request);
        }
        let (head, body) = request.into_parts();
        match begin(&self.door, &head, &body) {
            Ok(Some(call)) => {
                // Exactly the service that was polled ready is called: a clone in its place
                // would not be ready.
                let clone = self.inner.clone();
                let ready = mem::replace(&mut self.inner, clone);
                let exchange = Exchange { door: self.door.clone(), inner: ready, head, call };
                ResponseFuture::keyed(exchange, body)
            }
            Ok(None) => self.pass(Request::from_parts(head, body)),
            Err(refusal) => ResponseFuture::answered(refusal.into_response(&self.door, &head)),
        }
    }
}

impl<S> Idempotency<S> {
    fn pass<ReqBody, ResBody>(
        &mut self,
        request: Request<ReqBody>,
    ) -> ResponseFuture<S, ReqBody, ResBody>
    where
        S: Service<Request<RequestBody<ReqBody>>, Response = Response<ResBody>>,
        ResBody: Body,
    {
        ResponseFuture::passed(self.inner.call(request.map(RequestBody::passed)))
    }
}

/// The call that a request makes; none when it is to pass through.
fn begin<B: Body>(door: &Door, head: &request::Parts, body: &B) -> Result<Option<Call>, Refusal> {
    let found = door.settings.sources.find(&head.headers).map_err(|fault| {
        tracing::debug!(%fault, "a request's key can't be read");
        fault.problem(door.policy.key_rule())
    })?;
    let Some(found) = found else { return keyless(door).map_err(Refusal::from) };
    refuse_oversized(door, head, body)?;
    let scope = scope(door, head)?;
    let operation = operation::of(door, head);
    let call = Call::new(&door.policy, &scope, found.key().as_str(), operation)?;
    let around = head.extensions.get::<ClaimsAround>();
    if around.is_some_and(|around| around.hold(&door.once, &call)) {
        return Err(within_itself());
    }
    Ok(Some(call))
}

fn within_itself() -> Refusal {
    tracing::error!(
        "two idempotency layers of one store are around one route, and would wait for each \
         other: take one away, or let the inner one separate keys by operation"
    );
    Refusal::Plain(
        StatusCode::INTERNAL_SERVER_ERROR,
        "The service would wait for itself to carry out this request.",
    )
}

fn keyless(door: &Door) -> Result<Option<Call>, Problem> {
    match door.policy.missing_key() {
        MissingKey::Optional => Ok(None),
        MissingKey::Require => {
            let place = door.settings.sources.places().first().map(KeySource::to_string);
            let header = place.unwrap_or_default().into();
            Err(ProblemKind::KeyMissing { header }.into())
        }
    }
}

fn scope(door: &Door, head: &request::Parts) -> Result<Scope, Refusal> {
    match (head.extensions.get::<Scope>(), door.settings.anonymous) {
        (Some(scope), _) => Ok(scope.clone()),
        (None, Anonymous::Shared) => Ok(Scope::anonymous()),
        (None, Anonymous::Refuse) => {
            tracing::error!(
                "no Scope in the request's extensions: put one there where the caller is \
                 authenticated, outside the idempotency layer, or allow shared keys"
            );
            Err(Refusal::Plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "The service does not know whose request this is.",
            ))
        }
    }
}

/// A body that says that it is too large is refused before a byte of it is read.
fn refuse_oversized<B: Body>(door: &Door, head: &request::Parts, body: &B) -> Result<(), Problem> {
    let declared = head
        .headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let limit = door.settings.max_request_body as u64;
    if declared.unwrap_or(0).max(body.size_hint().lower()) > limit {
        return Err(ProblemKind::BodyTooLarge { limit: ByteCount::new(limit) }.into());
    }
    Ok(())
}
