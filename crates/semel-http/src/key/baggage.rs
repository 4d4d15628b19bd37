//! A key that travels as a member of W3C Baggage.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};

use super::fault::BaggageFault;
use super::found::UncheckedKey;
use super::octets::{split_first, trim_ows};

/// The header that carries all baggage.
pub(super) const BAGGAGE: &str = "baggage";

/// The name of the baggage member that carries the key. Setting `idempotency.baggage_key`; the
/// default is `xihan.idempotency-key`.
///
/// Baggage (<https://www.w3.org/TR/baggage/>) is a comma-separated list of `name=value`, over any
/// number of `baggage` headers, which count as one. White space around names and values is
/// ignored. Names are compared exactly, letter case included. The value is percent-decoded and
/// must be UTF-8; `+` is a plus sign. Properties behind `;` are ignored, unread.
///
/// Baggage is shared: other people's members are none of our business, so one that is malformed
/// does not keep ours from being read. Ours is read strictly: sent twice (even with equal values),
/// without `=`, without a value, with a byte that a value can't hold (quotes, for one), wrongly
/// encoded: each is an error.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BaggageKey(Arc<str>);

impl BaggageKey {
    /// How many bytes are read, over all `baggage` headers: what every platform has to carry. More
    /// is an error, because a key may stand in what would be left unread.
    pub const MAX_BYTES: usize = 8192;
    /// How many members are read, over all `baggage` headers. Empty ones (`a=1,,b=2`) don't count.
    pub const MAX_MEMBERS: usize = 64;

    /// Checks a member name: a token of RFC 9110, section 5.6.2.
    ///
    /// # Errors
    ///
    /// [`BaggageKeyError`] when it is empty or holds anything but letters, digits and
    /// ``!#$%&'*+-.^_`|~``.
    pub fn new(name: impl AsRef<str> + Into<Arc<str>>) -> Result<Self, BaggageKeyError> {
        let text = name.as_ref();
        if text.is_empty() {
            return Err(BaggageKeyError::Empty);
        }
        match text.chars().position(|c| !is_token_char(c)) {
            None => Ok(Self(name.into())),
            Some(at) => Err(BaggageKeyError::NotAToken { at }),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the member from a request: none if no baggage names it.
    ///
    /// # Errors
    ///
    /// [`BaggageFault`].
    pub fn read(&self, headers: &HeaderMap) -> Result<Option<UncheckedKey>, BaggageFault> {
        let lines = headers.get_all(BAGGAGE);
        let bytes = lines.iter().map(HeaderValue::len).sum();
        if bytes > Self::MAX_BYTES {
            return Err(BaggageFault::TooLarge { bytes });
        }
        let members = lines
            .iter()
            .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
            .map(trim_ows)
            .filter(|member| !member.is_empty());
        let mut found = None;
        for (n, member) in members.enumerate() {
            if n == Self::MAX_MEMBERS {
                return Err(BaggageFault::TooManyMembers);
            }
            if let Some(value) = self.value_in(member)?
                && found.replace(decode(value)?).is_some()
            {
                return Err(BaggageFault::Twice);
            }
        }
        Ok(found.map(UncheckedKey::new))
    }

    /// The undecoded value of `member` if it is ours.
    fn value_in<'h>(&self, member: &'h [u8]) -> Result<Option<&'h [u8]>, BaggageFault> {
        let (pair, _properties) = split_first(member, b';');
        let (name, value) = split_first(pair, b'=');
        if trim_ows(name) != self.0.as_bytes() {
            return Ok(None);
        }
        value.map(trim_ows).map(Some).ok_or(BaggageFault::Malformed)
    }
}

/// Undoes the percent-encoding of a value.
fn decode(value: &[u8]) -> Result<String, BaggageFault> {
    if value.is_empty() {
        return Err(BaggageFault::Empty);
    }
    let mut decoded = Vec::with_capacity(value.len());
    let mut bytes = value.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => decoded.push(hex_pair(bytes.next(), bytes.next())?),
            // The octets of a baggage value: visible ASCII without `"`, `,`, `;` and `\`.
            b'!' | b'#'..=b'+' | b'-'..=b':' | b'<'..=b'[' | b']'..=b'~' => decoded.push(*byte),
            _ => return Err(BaggageFault::Malformed),
        }
    }
    String::from_utf8(decoded).map_err(|_| BaggageFault::NotUtf8)
}

fn hex_pair(high: Option<&u8>, low: Option<&u8>) -> Result<u8, BaggageFault> {
    let digit = |byte: Option<&u8>| byte.and_then(|b| char::from(*b).to_digit(16));
    match (digit(high), digit(low)) {
        (Some(high), Some(low)) => {
            u8::try_from(high << 4 | low).map_err(|_| BaggageFault::BadPercent)
        }
        _ => Err(BaggageFault::BadPercent),
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

impl Default for BaggageKey {
    /// `xihan.idempotency-key`.
    fn default() -> Self {
        Self("xihan.idempotency-key".into())
    }
}

impl FromStr for BaggageKey {
    type Err = BaggageKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl fmt::Display for BaggageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BaggageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaggageKey({:?})", self.0)
    }
}

/// Why a text can't name a baggage member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaggageKeyError {
    /// No character at all.
    #[error("the name of the baggage member is empty")]
    Empty,
    /// A character that no token holds.
    #[error(
        "the name of the baggage member has a character at position {at} that it can't hold; \
         it takes letters, digits and !#$%&'*+-.^_`|~"
    )]
    NotAToken {
        /// Its position, counted in characters from 0.
        at: usize,
    },
}
