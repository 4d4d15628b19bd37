//! A call that reached a writing handler.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use http::HeaderMap;

use super::accounts::Account;
use super::data;
use super::problem::Problem;

/// What a writing handler gets: who calls, with what, and the wish to misbehave.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) by: Account,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    path: String,
}

impl Call {
    /// A call that came another way than through HTTP.
    pub(crate) const fn new(by: Account, headers: HeaderMap, body: Bytes, path: String) -> Self {
        Self { by, headers, body, path }
    }

    /// What makes the request the same one again, for `X-Demo: fail-once`.
    /// Each part is hashed by itself, so that no two requests can run together.
    pub(crate) fn request(&self, operation: &str) -> data::Request {
        let mut whole = blake3::Hasher::new();
        let Account { tenant, subject } = self.by;
        for part in [operation, tenant, subject, &self.path].map(str::as_bytes) {
            whole.update(blake3::hash(part).as_bytes());
        }
        whole.update(blake3::hash(&self.body).as_bytes());
        data::Request(*whole.finalize().as_bytes())
    }
}

impl<S: Send + Sync> FromRequest<S> for Call {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let by = request.extensions().get::<Account>().copied();
        let by = by.ok_or_else(|| Problem::internal("The call came past authentication."))?;
        let headers = request.headers().clone();
        let path = request.uri().path().to_owned();
        let body = Bytes::from_request(request, state).await.map_err(|unread| {
            let detail = format!("{}.", unread.body_text());
            Problem::new(unread.status(), "DEMO_BODY", "The request body can't be read", detail)
        })?;
        Ok(Self { by, headers, body, path })
    }
}
