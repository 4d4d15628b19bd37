//! What an answer tells about itself.

use http::{HeaderMap, HeaderName, response};
use semel::{Code, SameKey};

use super::error::GaveUp;
use super::key::RequestKey;
use crate::marks;

/// Who gave an answer, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The handler, for this very request. Also each answer of a service that marks no replays.
    Answered,
    /// The handler, for an earlier try: this is the recorded answer, marked by
    /// `Idempotent-Replayed`. The work did not run again.
    Replayed,
    /// The idempotency layer in front of the handler, marked by `Idempotency-Error`: for this
    /// request the handler did not run.
    Refused(Refusal),
}

/// What the layer in front of the handler says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub(super) code: Box<str>,
    pub(super) same_key: Option<SameKey>,
}

impl Refusal {
    /// The code, such as `CACHING_CONFLICT_002`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether the same key may be sent again; none where the answer doesn't say and the code is
    /// not known here.
    #[must_use]
    pub const fn same_key(&self) -> Option<SameKey> {
        self.same_key
    }

    pub(super) fn is(&self, code: Code) -> bool {
        *self.code == *code.code()
    }
}

/// What the client's side knows about an answer. It is in the extensions of every response that it
/// hands out.
///
/// ```
/// # use semel_http::client::{AnswerInfo, Origin};
/// # fn look(response: http::Response<()>) {
/// match response.extensions().get::<AnswerInfo>().map(AnswerInfo::origin) {
///     Some(Origin::Replayed) => println!("it had been done before"),
///     Some(Origin::Refused(refusal)) => println!("not done: {}", refusal.code()),
///     _ => println!("done now"),
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerInfo {
    pub(super) origin: Origin,
    pub(super) tries: u32,
    pub(super) key: Option<RequestKey>,
    pub(super) gave_up: Option<GaveUp>,
}

impl AnswerInfo {
    /// Who gave the answer.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// How often the request was sent for it.
    #[must_use]
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// The key that the request carried; none where it carried none, or none that can be read.
    #[must_use]
    pub const fn key(&self) -> Option<&RequestKey> {
        self.key.as_ref()
    }

    /// Why there was no further try, of an answer that asks for one: 429, 503, a first call that
    /// still runs. Nothing final is known then, and the same key may be sent later. None of an
    /// answer that stands.
    #[must_use]
    pub const fn gave_up(&self) -> Option<&GaveUp> {
        self.gave_up.as_ref()
    }
}

/// Reads who gave an answer; `same_key` is what its body says, where it was read.
pub(super) fn origin(
    head: &response::Parts,
    replay_marker: Option<&HeaderName>,
    same_key: Option<SameKey>,
) -> Origin {
    if let Some(code) = text(&head.headers, &marks::ERROR) {
        let same_key = same_key.or_else(|| known(code).map(Code::same_key));
        return Origin::Refused(Refusal { code: code.into(), same_key });
    }
    match replay_marker.and_then(|name| text(&head.headers, name)) {
        Some(value) if value.eq_ignore_ascii_case("true") => Origin::Replayed,
        _ => Origin::Answered,
    }
}

/// The first row of the code: rows that share one agree about the key.
fn known(code: &str) -> Option<Code> {
    Code::ALL.into_iter().find(|known| known.code() == code)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The member `sameKey` of a problem document.
pub(super) fn same_key(document: &[u8]) -> Option<SameKey> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Document {
        same_key: bool,
    }
    let document: Document = serde_json::from_slice(document).ok()?;
    Some(if document.same_key { SameKey::Yes } else { SameKey::No })
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::*;

    fn of(headers: &[(&str, &str)], same_key: Option<SameKey>) -> Origin {
        let mut response = Response::builder();
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        let (head, ()) = response.body(()).unwrap().into_parts();
        origin(&head, Some(&marks::REPLAYED), same_key)
    }

    #[test]
    fn a_replay_is_told_from_a_first_answer() {
        assert_eq!(of(&[], None), Origin::Answered);
        assert_eq!(of(&[("idempotent-replayed", "true")], None), Origin::Replayed);
        assert_eq!(of(&[("idempotent-replayed", "false")], None), Origin::Answered);
    }

    #[test]
    fn rows_that_share_a_code_agree_about_the_key() {
        for one in Code::ALL {
            for other in Code::ALL.into_iter().filter(|other| other.code() == one.code()) {
                assert_eq!(one.same_key(), other.same_key());
            }
        }
    }

    #[test]
    fn a_refusal_says_whether_the_key_may_be_sent_again() {
        let refused = |code: &str, said| match of(&[("idempotency-error", code)], said) {
            Origin::Refused(refusal) => refusal.same_key(),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused("CACHING_CONFLICT_002", None), Some(SameKey::Yes));
        assert_eq!(refused("CACHING_CONFLICT_003", None), Some(SameKey::No));
        assert_eq!(refused("CACHING_CONFLICT_002", Some(SameKey::No)), Some(SameKey::No));
        assert_eq!(refused("OF_ANOTHER_VERSION", None), None);
    }

    #[test]
    fn the_member_is_read_and_nothing_else_is_taken_for_it() {
        assert_eq!(same_key(br#"{"status":409,"sameKey":true}"#), Some(SameKey::Yes));
        assert_eq!(same_key(br#"{"sameKey":false,"code":"X"}"#), Some(SameKey::No));
        for other in
            ["", "{}", "[]", r#"{"sameKey":"false"}"#, r#"{"sameKey":0}"#, r#"{"sameKey":"#]
        {
            assert_eq!(same_key(other.as_bytes()), None, "{other}");
        }
    }
}
