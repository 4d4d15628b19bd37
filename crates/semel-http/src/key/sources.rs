//! All the places of a request that a key may stand in.

use http::{HeaderMap, HeaderName};
use semel::KeyRejected;

use super::baggage::BAGGAGE;
use super::fault::KeyFault;
use super::found::{Found, UncheckedKey};
use super::header::HeaderSyntax;
use super::place::{BaggageKey, KeySource};

/// Where a request's key is read from, in order. Settings `idempotency.header_names`,
/// `idempotency.baggage_key` and `idempotency.header_syntax`.
///
/// By default the header `Idempotency-Key`, read leniently, then the baggage member
/// `xihan.idempotency-key`.
///
/// ```
/// # use http::{HeaderMap, HeaderValue};
/// # use semel::KeyRule;
/// # use semel_http::{KeyFault, KeySources};
/// let sources = KeySources::default();
/// let mut headers = HeaderMap::new();
/// assert_eq!(sources.find(&headers)?, None);
///
/// headers.insert("baggage", HeaderValue::from_static("xihan.idempotency-key=order-1"));
/// let found = sources.find(&headers)?.expect("the baggage names a key");
/// assert_eq!(found.check(&KeyRule::http())?.as_str(), "order-1");
///
/// headers.insert("idempotency-key", HeaderValue::from_static("order-2"));
/// assert_eq!(
///     sources.find(&headers).unwrap_err().to_string(),
///     "Idempotency-Key and baggage member xihan.idempotency-key carry different keys; \
///      they must be equal, or only one be sent",
/// );
/// # Ok::<(), KeyFault>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct KeySources {
    places: Vec<KeySource>,
    syntax: HeaderSyntax,
}

impl KeySources {
    /// The given headers in their order, then the baggage member if there is one, read leniently.
    ///
    /// # Errors
    ///
    /// [`KeySourcesError`] when there is no place at all, a header is named twice, or a header is
    /// `baggage` itself.
    pub fn new(
        header_names: impl IntoIterator<Item = HeaderName>,
        baggage_key: Option<BaggageKey>,
    ) -> Result<Self, KeySourcesError> {
        let mut places = Vec::new();
        for name in header_names {
            if name == BAGGAGE {
                return Err(KeySourcesError::BaggageAsHeader);
            }
            let place = KeySource::Header(name);
            if places.contains(&place) {
                return Err(KeySourcesError::Repeated { place });
            }
            places.push(place);
        }
        places.extend(baggage_key.map(KeySource::Baggage));
        if places.is_empty() {
            return Err(KeySourcesError::None);
        }
        Ok(Self { places, syntax: HeaderSyntax::default() })
    }

    /// The same places, the headers read by another syntax.
    pub fn with_syntax(self, syntax: HeaderSyntax) -> Self {
        Self { syntax, ..self }
    }

    /// The places in their order. There is at least one.
    #[must_use]
    pub fn places(&self) -> &[KeySource] {
        &self.places
    }

    /// How the headers are read.
    #[must_use]
    pub const fn syntax(&self) -> HeaderSyntax {
        self.syntax
    }

    /// Reads all places: none if no place carries a key, the key if all that carry one agree.
    ///
    /// Every place is read, also after a key was found: one that can't be read may carry another
    /// key. The key found is neither empty nor blank; all else is for [`Found::check`].
    ///
    /// # Errors
    ///
    /// [`KeyFault`] when a place carries a key that can't be read, or two places carry different
    /// keys. Never to be taken for "no key".
    pub fn find(&self, headers: &HeaderMap) -> Result<Option<Found>, KeyFault> {
        let mut found: Option<Found> = None;
        for place in &self.places {
            let Some(key) = self.read(headers, place)? else { continue };
            match &found {
                None => found = Some(Found { key, source: place.clone() }),
                Some(first) if first.key == key => {}
                Some(first) => {
                    let (first, second) = (first.source.clone(), place.clone());
                    return Err(KeyFault::Disagree { first, second });
                }
            }
        }
        Ok(found)
    }

    fn read(
        &self,
        headers: &HeaderMap,
        place: &KeySource,
    ) -> Result<Option<UncheckedKey>, KeyFault> {
        let key = match place {
            KeySource::Header(name) => self
                .syntax
                .read(headers, name)
                .map_err(|fault| KeyFault::Header { place: place.clone(), fault }),
            KeySource::Baggage(member) => member
                .read(headers)
                .map_err(|fault| KeyFault::Baggage { place: place.clone(), fault }),
        }?;
        match key.as_ref().and_then(|key| KeyRejected::of_blank(key.as_str())) {
            None => Ok(key),
            Some(rejected) => Err(KeyFault::Rejected { place: place.clone(), rejected }),
        }
    }
}

impl Default for KeySources {
    /// `Idempotency-Key`, then the baggage member `xihan.idempotency-key`, read leniently.
    fn default() -> Self {
        let header = KeySource::Header(HeaderName::from_static("idempotency-key"));
        let baggage = KeySource::Baggage(BaggageKey::default());
        Self { places: vec![header, baggage], syntax: HeaderSyntax::Lenient }
    }
}

/// Places that can't be read together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeySourcesError {
    /// Neither a header nor a baggage member.
    #[error("no place to read the key from; name a header or a baggage member")]
    None,
    /// A header twice.
    #[error("{place} is named twice; each header is read once")]
    Repeated {
        /// The header.
        place: KeySource,
    },
    /// The header `baggage` as a whole.
    #[error("Baggage holds members, not a key; name the member as the baggage key instead")]
    BaggageAsHeader,
}
