//! The places of a request that a key may stand in.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use http::HeaderName;

/// A place in a request that a key is read from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeySource {
    /// A header field of its own.
    Header(HeaderName),
    /// A member of the `baggage` header.
    Baggage(BaggageKey),
}

impl fmt::Display for KeySource {
    /// `Idempotency-Key`, or `baggage member xihan.idempotency-key`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write_header_name(f, name),
            Self::Baggage(key) => write!(f, "baggage member {key}"),
        }
    }
}

/// Writes a header name the way people do. The name itself is kept in small letters, as HTTP/2
/// sends it, and its letter case means nothing.
fn write_header_name(f: &mut fmt::Formatter<'_>, name: &HeaderName) -> fmt::Result {
    for (n, part) in name.as_str().split('-').enumerate() {
        let (head, tail) = part.split_at(part.len().min(1));
        let hyphen = if n == 0 { "" } else { "-" };
        write!(f, "{hyphen}{}{tail}", head.to_ascii_uppercase())?;
    }
    Ok(())
}

// ===== BaggageKey =====

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
