//! A request before its first try: its key, and whether it may be sent again.

use http::{HeaderMap, Method};

use super::error::GaveUp;
use super::key::{Carried, RequestKey, carried, put};
use super::settings::ClientSettings;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) key: Option<RequestKey>,
    pub(super) repeat: Repeat,
}

/// Whether it may be sent more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repeat {
    May,
    MayNot(GaveUp),
}

/// Whether a request's body can be sent more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
}

/// Gives a request its key, unless it has one, and says whether it may be sent again.
pub(super) fn prepare(
    settings: &ClientSettings,
    method: &Method,
    headers: &mut HeaderMap,
    own: Option<&RequestKey>,
    body: Kept,
) -> Asked {
    let carried = match (carried(settings, headers), own) {
        (Carried::Nothing, None) if !settings.methods.contains(method) => Carried::Nothing,
        (Carried::Nothing, own) => {
            let key = own.cloned().unwrap_or_else(RequestKey::fresh);
            put(settings, headers, &key);
            Carried::Key(key)
        }
        (carried, _) => carried,
    };
    let repeat = match (&carried, body) {
        (_, Kept::No) => Repeat::MayNot(GaveUp::BodyIsGone),
        // What can't be read here, another may take for no key at all.
        (Carried::Nothing | Carried::Unreadable, Kept::Yes) if !method.is_idempotent() => {
            Repeat::MayNot(GaveUp::NotSafe)
        }
        _ => Repeat::May,
    };
    let key = match carried {
        Carried::Key(key) => Some(key),
        Carried::Nothing | Carried::Unreadable => None,
    };
    Asked { key, repeat }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn asked(method: Method, headers: &mut HeaderMap, own: Option<&RequestKey>) -> Asked {
        prepare(&ClientSettings::default(), &method, headers, own, Kept::Yes)
    }

    #[test]
    fn a_request_that_has_an_effect_gets_a_key_and_may_be_sent_again() {
        for method in [Method::POST, Method::PATCH, Method::PUT] {
            let mut headers = HeaderMap::new();
            let asked = asked(method, &mut headers, None);
            assert!(asked.key.is_some() && headers.contains_key("idempotency-key"));
            assert_eq!(asked.repeat, Repeat::May);
        }
    }

    #[test]
    fn without_a_key_only_idempotent_methods_may_be_sent_again() {
        for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::DELETE] {
            let mut headers = HeaderMap::new();
            assert_eq!(asked(method, &mut headers, None).repeat, Repeat::May);
            assert!(headers.is_empty());
        }
        let odd = asked(Method::from_bytes(b"BUY").unwrap(), &mut HeaderMap::new(), None);
        assert_eq!(odd.repeat, Repeat::MayNot(GaveUp::NotSafe));
    }

    #[test]
    fn the_callers_own_key_is_kept_wherever_it_stands() {
        let own = RequestKey::new("order-1").unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(asked(Method::POST, &mut headers, Some(&own)).key.as_ref(), Some(&own));
        assert_eq!(headers["idempotency-key"], "\"order-1\"");

        for (name, value) in [
            ("idempotency-key", "order-1"),
            ("idempotency-key", "\"order-1\""),
            ("baggage", "xihan.idempotency-key=order-1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            let before = headers.clone();
            assert_eq!(asked(Method::POST, &mut headers, None).key.as_ref(), Some(&own), "{value}");
            assert_eq!(headers, before);
        }
    }

    #[test]
    fn a_key_that_was_given_is_sent_with_any_method() {
        let own = RequestKey::new("order-1").unwrap();
        let mut headers = HeaderMap::new();
        asked(Method::DELETE, &mut headers, Some(&own));
        assert!(headers.contains_key("idempotency-key"));
    }

    #[test]
    fn a_key_that_cannot_be_read_is_left_for_the_service_to_refuse() {
        let mut headers = HeaderMap::new();
        headers.append("idempotency-key", HeaderValue::from_static("one"));
        headers.append("idempotency-key", HeaderValue::from_static("two"));
        let asked = asked(Method::POST, &mut headers, None);
        assert_eq!((asked.key, headers.len()), (None, 2));
        assert_eq!(asked.repeat, Repeat::MayNot(GaveUp::NotSafe));
    }

    #[test]
    fn a_body_that_is_gone_is_not_sent_again_even_with_a_key() {
        let settings = ClientSettings::default();
        let asked = prepare(&settings, &Method::POST, &mut HeaderMap::new(), None, Kept::No);
        assert_eq!(asked.repeat, Repeat::MayNot(GaveUp::BodyIsGone));
        assert!(asked.key.is_some());
    }
}
