//! The key of one intent: a new one, or the caller's own.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use semel::{ClientKey, KeyRejected, KeyRule};
use uuid::Uuid;

use super::settings::{ClientSettings, KeyForm};
use crate::key::KeySource;

/// The key of one intent: one order that a person meant, one payment that is due. All tries of it
/// carry the same key; the next intent has another one.
///
/// Without one of the caller's own, a request gets a UUIDv7 (RFC 9562, section 5.7), which is kept
/// over the retries of that one request. A caller that must not lose its intent in a crash makes
/// the key itself, stores it with what it means to do, and puts it into the request's extensions:
///
/// ```
/// use semel_http::client::RequestKey;
///
/// let key = RequestKey::fresh();
/// // … written down here, with the order …
/// let request = http::Request::post("https://shop.example/orders").extension(key.clone());
/// # assert_eq!(RequestKey::new(key.as_str())?, key);
/// # Ok::<(), semel::KeyRejected>(())
/// ```
///
/// Equality is exact. `Debug` prints a short digest and never the key, and there is no `Display`:
/// it comes into a log by [`RequestKey::as_str`] alone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RequestKey(ClientKey);

impl RequestKey {
    /// A new key: a UUIDv7, which says to the millisecond when it was made.
    #[must_use]
    pub fn fresh() -> Self {
        let text = Uuid::now_v7().to_string();
        Self(KeyRule::http().check(&text).expect("a UUID is 36 visible characters"))
    }

    /// The caller's own key: 1 to 255 characters of visible ASCII.
    ///
    /// # Errors
    ///
    /// [`KeyRejected`] for anything else. Nothing is trimmed or changed.
    pub fn new(text: &str) -> Result<Self, KeyRejected> {
        KeyRule::http().check(text).map(Self)
    }

    /// The key itself, to be stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// What a request carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Carried {
    /// No key.
    Nothing,
    /// This key.
    Key(RequestKey),
    /// Something where a key stands that can't be read. It is sent as it is: the server says what
    /// is wrong with it.
    Unreadable,
}

/// Finds the key that `headers` hold.
pub(super) fn carried(settings: &ClientSettings, headers: &HeaderMap) -> Carried {
    match settings.sources.find(headers) {
        Ok(None) => Carried::Nothing,
        Ok(Some(found)) => {
            RequestKey::new(found.key().as_str()).map_or(Carried::Unreadable, Carried::Key)
        }
        Err(_) => Carried::Unreadable,
    }
}

/// Puts `key` into `headers`, in the first of the places.
pub(super) fn put(settings: &ClientSettings, headers: &mut HeaderMap, key: &RequestKey) {
    let Some(place) = settings.sources.places().first() else { return };
    let (name, text) = match place {
        KeySource::Header(name) => (name.clone(), in_header(settings.form, key.as_str())),
        KeySource::Baggage(member) => {
            let name = HeaderName::from_static("baggage");
            (name, format!("{member}={}", percent_encoded(key.as_str())))
        }
    };
    // Visible ASCII always is a header value.
    if let Ok(mut value) = HeaderValue::from_str(&text) {
        value.set_sensitive(true);
        headers.append(name, value);
    }
}

fn in_header(form: KeyForm, key: &str) -> String {
    match form {
        KeyForm::Bare => key.to_owned(),
        KeyForm::Quoted => {
            let escaped = key.replace('\\', r"\\").replace('"', r#"\""#);
            format!("\"{escaped}\"")
        }
    }
}

/// All but the unreserved characters of RFC 3986, section 2.3.
fn percent_encoded(key: &str) -> String {
    let mut text = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{BaggageKey, KeySources};

    fn baggage_only() -> ClientSettings {
        let sources = KeySources::new([], Some(BaggageKey::default())).unwrap();
        ClientSettings::builder().key_places(sources).build().unwrap()
    }

    #[test]
    fn what_is_put_is_what_a_server_finds() {
        let quoted = ClientSettings::default();
        let bare = ClientSettings::builder().key_form(KeyForm::Bare).build().unwrap();
        for (settings, text) in [
            (&quoted, "order-1"),
            (&quoted, r#"a"b\c;d,e"#),
            (&bare, "order-1"),
            (&baggage_only(), r#"a"b\c;d,e=%41"#),
        ] {
            let key = RequestKey::new(text).unwrap();
            let mut headers = HeaderMap::new();
            assert_eq!(carried(settings, &headers), Carried::Nothing);
            put(settings, &mut headers, &key);
            assert_eq!(carried(settings, &headers), Carried::Key(key), "{text}");
        }
    }

    #[test]
    fn a_member_is_added_to_baggage_that_is_there() {
        let mut headers = HeaderMap::new();
        headers.insert("baggage", HeaderValue::from_static("trace=1"));
        put(&baggage_only(), &mut headers, &RequestKey::new("k").unwrap());
        let values: Vec<_> = headers.get_all("baggage").iter().collect();
        assert_eq!(values, ["trace=1", "xihan.idempotency-key=k"]);
    }

    #[test]
    fn a_new_key_is_a_uuid_of_version_7_that_says_when_it_was_made() {
        let (one, two) = (RequestKey::fresh(), RequestKey::fresh());
        assert_ne!(one, two);
        assert_eq!(Uuid::parse_str(one.as_str()).unwrap().get_version_num(), 7);
    }

    #[test]
    fn neither_debug_nor_a_header_shows_the_key() {
        let key = RequestKey::new("secret-key").unwrap();
        let mut headers = HeaderMap::new();
        put(&ClientSettings::default(), &mut headers, &key);
        assert!(!format!("{key:?} {headers:?}").contains("secret"));
    }
}
