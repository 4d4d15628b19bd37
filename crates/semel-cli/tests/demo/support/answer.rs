//! Answers, and what has to hold of them.

use http::{HeaderMap, HeaderValue, StatusCode};
use hyper::body::Bytes;
use serde_json::Value;

/// An answer that came whole.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Headers that two answers to one call may differ in: when it was sent, what
/// becomes of the connection, and that it was a replay.
const OF_THE_MOMENT: [&str; 3] = ["date", "connection", "idempotent-replayed"];

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&[u8]> {
        self.headers.get_all(name).iter().map(HeaderValue::as_bytes).collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn is_replay(&self) -> bool {
        match self.header("idempotent-replayed") {
            None => false,
            Some("true") => true,
            Some(other) => panic!("Idempotent-Replayed: {other}"),
        }
    }

    /// The answer of a handler that ran for this call.
    #[track_caller]
    pub(crate) fn assert_fresh(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        assert!(!self.is_replay(), "{self:?}");
        assert_eq!(self.header("idempotency-error"), None, "{self:?}");
        self
    }

    /// The first answer again: same status, same headers, same bytes.
    #[track_caller]
    pub(crate) fn assert_replays(&self, first: &Answer) -> &Self {
        assert!(self.is_replay(), "{self:?}");
        self.assert_equals(first)
    }

    /// The same status, headers and bytes, replay or not.
    #[track_caller]
    pub(crate) fn assert_equals(&self, first: &Answer) -> &Self {
        let lasting = |answer: &Answer| {
            let mut headers = answer.headers.clone();
            for name in OF_THE_MOMENT {
                headers.remove(name);
            }
            headers
        };
        assert_eq!(self.status, first.status);
        assert_eq!(lasting(self), lasting(first));
        assert_eq!(self.body, first.body);
        self
    }

    /// A refusal of the idempotency layer, whole as the contract says, and its `params`.
    #[track_caller]
    pub(crate) fn assert_refusal(&self, status: u16, code: &str, message_key: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.header("idempotency-error"), Some(code));
        assert!(!self.is_replay(), "a refusal is no replay");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert_eq!(problem["code"], code);
        assert_eq!(problem["messageKey"], message_key);
        for text in ["type", "title", "detail"] {
            assert!(
                problem[text].as_str().is_some_and(|text| !text.is_empty()),
                "{text}: {problem}"
            );
        }
        assert!(problem["sameKey"].is_boolean(), "{problem}");
        assert!(problem["params"].is_object(), "{problem}");
        problem["params"].clone()
    }
}
