//! Answers, read whole.

use axum::body::{Body, to_bytes};
use bytes::Bytes;
use http::{HeaderMap, Response};
use semel_http::Replayed;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) replayed: bool,
}

impl Answer {
    pub(crate) async fn read(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        Self {
            status: head.status.as_u16(),
            replayed: head.extensions.get::<Replayed>().is_some(),
            headers: head.headers,
            body: to_bytes(body, usize::MAX).await.unwrap(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// A header's text; empty where there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The code, where the layer itself answered; empty where the handler did.
    pub(crate) fn code(&self) -> &str {
        self.header("idempotency-error")
    }

    /// Status and code: what a client goes by.
    pub(crate) fn told(&self) -> (u16, &str) {
        (self.status, self.code())
    }

    /// Status and body: what was ordered.
    pub(crate) fn got(&self) -> (u16, &str) {
        (self.status, self.text())
    }

    /// A member of the problem.
    pub(crate) fn problem(&self, member: &str) -> serde_json::Value {
        let problem: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        problem[member].clone()
    }

    /// That it is a replay says a header and, to the layers further out, an extension.
    pub(crate) fn is_replay(&self) -> bool {
        let marked = self.header("idempotent-replayed") == "true";
        assert_eq!(marked, self.replayed, "{self:?}");
        marked
    }
}
