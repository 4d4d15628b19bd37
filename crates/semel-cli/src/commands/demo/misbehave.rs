//! `X-Demo`: the wish that a handler may misbehave.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, HeaderName};

use super::problem::Problem;
use crate::args::{duration, size};

const HEADER: HeaderName = HeaderName::from_static("x-demo");
const MAX_SLOW: Duration = Duration::from_secs(600);
const MAX_BIG: size::Size = size::Size(1 << 30);
const MAX_EVENTS: u32 = 100_000;
const KNOWN: &str = "fail-once, fail, panic, slow=3s (at most 10m), big=1MiB (at most 1GiB), \
                     stream=20 (at most 100000), conflict, cookie, empty, binary, headers";

/// How the handler is to misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demo {
    /// Not at all.
    Behave,
    /// Before the work, and instead of it: the order is not made.
    Instead(Instead),
    /// Before the work: the order is made that much later.
    Slow(Duration),
    /// After the work: the order is made, and the answer is another one.
    Answer(Answer),
}

/// What happens instead of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instead {
    /// 500 at the first execution for this request; later ones work.
    FailOnce,
    /// 500.
    Fail,
    Panic,
    /// A 409 of the business: nothing to do with keys.
    Conflict,
}

/// What the answer looks like after the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A body of that size, of known length.
    Big(size::Size),
    /// So many server-sent events, of unknown length.
    Stream(u32),
    /// Cookies and other headers beside the order.
    Cookie,
    /// 204 without a body.
    Empty,
    /// Every byte once.
    Binary,
    /// Repeated header values, and one that is not UTF-8.
    Headers,
}

impl Demo {
    /// Reads the header; more than one, or an unknown wish, is 400.
    pub(crate) fn wished(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut values = headers.get_all(HEADER).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(Self::Behave),
            (Some(value), None) => value.to_str().ok().and_then(Self::parse).ok_or_else(unknown),
            (Some(_), Some(_)) => Err(unknown()),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        Some(match (name, value) {
            ("fail-once", None) => Self::Instead(Instead::FailOnce),
            ("fail", None) => Self::Instead(Instead::Fail),
            ("panic", None) => Self::Instead(Instead::Panic),
            ("conflict", None) => Self::Instead(Instead::Conflict),
            ("slow", Some(value)) => {
                Self::Slow(duration::parse(value).ok().filter(|time| *time <= MAX_SLOW)?)
            }
            _ => Self::Answer(Answer::parse(name, value)?),
        })
    }
}

impl Answer {
    fn parse(name: &str, value: Option<&str>) -> Option<Self> {
        Some(match (name, value) {
            ("big", Some(value)) => {
                Self::Big(size::parse(value).ok().filter(|size| *size <= MAX_BIG)?)
            }
            ("stream", Some(value)) => {
                Self::Stream(value.parse().ok().filter(|count| *count <= MAX_EVENTS)?)
            }
            ("cookie", None) => Self::Cookie,
            ("empty", None) => Self::Empty,
            ("binary", None) => Self::Binary,
            ("headers", None) => Self::Headers,
            _ => return None,
        })
    }
}

fn unknown() -> Problem {
    Problem::bad_request(format!("X-Demo takes one of: {KNOWN}."))
}

impl fmt::Display for Instead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FailOnce => "fail-once",
            Self::Fail => "fail",
            Self::Panic => "panic",
            Self::Conflict => "conflict",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    fn wish(text: &[u8]) -> Option<Demo> {
        let value = HeaderValue::from_bytes(text).unwrap();
        Demo::wished(&HeaderMap::from_iter([(HEADER, value)])).ok()
    }

    #[test]
    fn every_known_wish_is_read() {
        assert_eq!(wish(b"fail-once"), Some(Demo::Instead(Instead::FailOnce)));
        assert_eq!(wish(b"slow=3s"), Some(Demo::Slow(Duration::from_secs(3))));
        assert_eq!(wish(b"big=1MiB"), Some(Demo::Answer(Answer::Big(size::Size(1 << 20)))));
        assert_eq!(wish(b"stream=20"), Some(Demo::Answer(Answer::Stream(20))));
        for plain in ["fail", "panic", "conflict", "cookie", "empty", "binary", "headers"] {
            assert!(wish(plain.as_bytes()).is_some(), "{plain}");
        }
        assert_eq!(Demo::wished(&HeaderMap::new()).ok(), Some(Demo::Behave));
    }

    #[test]
    fn everything_else_is_refused_with_the_known_ones() {
        for text in ["", "explode", "fail=1", "slow", "slow=3", "slow=11m", "big=2GiB", "stream=-1"]
        {
            assert_eq!(wish(text.as_bytes()), None, "{text:?}");
        }
        let problem = serde_json::to_value(unknown()).unwrap();
        assert!(problem["detail"].as_str().unwrap().contains("fail-once"));
    }

    #[test]
    fn two_wishes_are_refused() {
        let mut headers = HeaderMap::new();
        headers.append(HEADER, HeaderValue::from_static("fail"));
        headers.append(HEADER, HeaderValue::from_static("panic"));
        assert!(Demo::wished(&headers).is_err());
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(text in "[ -~]{0,32}|(slow|big|stream)=[0-9]{0,24}[a-zA-Z]{0,3}") {
            wish(text.as_bytes());
        }
    }
}
