//! The syntax of a header that is a key and nothing else.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use http::{HeaderMap, HeaderName};
use sfv::visitor::{Ignored, ParameterVisitor, parameter_visitor_with};
use sfv::{BareItemFromInput, Parser};

use super::fault::{HeaderFault, ItemKind};
use super::found::UncheckedKey;
use super::octets::trim_ows;

/// How a key header is read. Setting `idempotency.header_syntax`.
///
/// The header is an Item of RFC 9651 that is a String, as the Idempotency-Key draft says. Most
/// clients send the key without quotes; lenient syntax takes that as the same key.
///
/// | value | lenient | strict |
/// | --- | --- | --- |
/// | `"k"` | `k` | `k` |
/// | `"a\"b\\c"` | `a"b\c` | the same |
/// | `"a b"` | `a b`, which [`KeyRule::http`](semel::KeyRule::http) refuses | the same |
/// | `"k";v=1` | `k`: parameters must be well-formed and are ignored | the same |
/// | `k`, `42`, `?1`, `:aGk=:` | the text as it stands | `not-a-string` |
/// | `01ARZ3NDEKTSV4RRFFQ69G5FAV`, `a\b`, `'k'` | the text as it stands | `malformed` |
/// | `k;v=1`, `a"b` | `needs-quotes` | `not-a-string`, `malformed` |
/// | `"k` and all else that begins with a quote and is no string | `malformed` | `malformed` |
/// | `"a", "b"`, `a,b`, `("a")` | `list` | `list`, or `malformed` if it is no list either |
/// | spaces around | ignored | ignored |
/// | tabs around | ignored | `not-visible-ascii` (RFC 9651 skips spaces only) |
/// | nothing, or white space | `empty` | `empty` |
/// | two headers | `several-headers` | `several-headers` |
///
/// Three decisions behind the lenient column. A value that begins with a quote was meant to be
/// quoted, so it is never taken as it stands. `;` and `"` in an unquoted value have two readings
/// (a parameter or a part of the key; a broken string or a part of the key): whichever was chosen,
/// two clients could come to share a key or one client to lose its own, so neither is. And a comma
/// may come from a proxy that joined two headers into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HeaderSyntax {
    /// The quoted form, and the bare key. The default.
    #[default]
    Lenient,
    /// The quoted form only.
    Strict,
}

impl HeaderSyntax {
    /// The longest value that is read at all: twice the default length of a key. It counts bytes
    /// as they were sent (quotes, escapes, parameters and white space included) and is checked
    /// before anything is parsed.
    pub const MAX_BYTES: usize = 510;

    /// Reads the header `name`: none if the request does not carry it.
    ///
    /// # Errors
    ///
    /// [`HeaderFault`]; [`HeaderFault::Several`] when the header was sent more than once, even if
    /// the values are equal.
    pub fn read(
        self,
        headers: &HeaderMap,
        name: &HeaderName,
    ) -> Result<Option<UncheckedKey>, HeaderFault> {
        let mut values = headers.get_all(name).iter();
        let Some(value) = values.next() else { return Ok(None) };
        match values.count() {
            0 => self.parse(value.as_bytes()).map(Some),
            more => Err(HeaderFault::Several { count: more + 1 }),
        }
    }

    /// Reads one field value. The text of the empty string `""` is given as it is, empty;
    /// [`KeyRule::check`](semel::KeyRule::check) refuses it.
    ///
    /// # Errors
    ///
    /// [`HeaderFault`].
    pub fn parse(self, value: &[u8]) -> Result<UncheckedKey, HeaderFault> {
        if value.len() > Self::MAX_BYTES {
            return Err(HeaderFault::TooLong { bytes: value.len() });
        }
        let trimmed = trim_ows(value);
        if trimmed.is_empty() {
            return Err(HeaderFault::Empty);
        }
        match self {
            Self::Lenient if trimmed[0] == b'"' => string_item(trimmed),
            Self::Lenient => bare(trimmed),
            Self::Strict => string_item(value),
        }
        .map(UncheckedKey::new)
    }
}

// ===== The quoted form =====

fn string_item(value: &[u8]) -> Result<String, HeaderFault> {
    if let Some(at) = value.iter().position(|byte| !matches!(byte, b' '..=b'~')) {
        return Err(HeaderFault::NotVisibleAscii { at });
    }
    match Parser::new(value).parse_item_with_visitor(keep_string) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(kind)) => Err(HeaderFault::NotAString(kind)),
        Err(_) if is_list(value) => Err(HeaderFault::List),
        Err(_) => Err(HeaderFault::Malformed),
    }
}

/// Takes the item and ignores its parameters, which are parsed all the same.
fn keep_string<'de>(
    item: BareItemFromInput<'de>,
) -> Result<impl ParameterVisitor<'de, Out = Result<String, ItemKind>>, Infallible> {
    let kept = match item {
        BareItemFromInput::String(text) => Ok(text.as_str().to_owned()),
        BareItemFromInput::Integer(_) => Err(ItemKind::Integer),
        BareItemFromInput::Decimal(_) => Err(ItemKind::Decimal),
        BareItemFromInput::Token(_) => Err(ItemKind::Token),
        BareItemFromInput::ByteSequence(_) => Err(ItemKind::ByteSequence),
        BareItemFromInput::Boolean(_) => Err(ItemKind::Boolean),
        BareItemFromInput::Date(_) => Err(ItemKind::Date),
        BareItemFromInput::DisplayString(_) => Err(ItemKind::DisplayString),
    };
    Ok(parameter_visitor_with(Ignored, move |()| Ok(kept)))
}

/// Only asked of what is no item, so that one member suffices: it is an inner list then.
fn is_list(value: &[u8]) -> bool {
    Parser::new(value).parse_list_with_visitor(Ignored).is_ok()
}

// ===== The bare form =====

fn bare(value: &[u8]) -> Result<String, HeaderFault> {
    if value[0] == b'(' || value.contains(&b',') {
        return Err(HeaderFault::List);
    }
    let mut text = String::with_capacity(value.len());
    for (at, byte) in value.iter().enumerate() {
        match byte {
            b'"' | b';' => return Err(HeaderFault::NeedsQuotes { at }),
            b'!'..=b'~' => text.push(char::from(*byte)),
            _ => return Err(HeaderFault::NotVisibleAscii { at }),
        }
    }
    Ok(text)
}

// ===== Its name in settings =====

impl FromStr for HeaderSyntax {
    type Err = HeaderSyntaxError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "lenient" => Ok(Self::Lenient),
            "strict" => Ok(Self::Strict),
            _ => Err(HeaderSyntaxError { got: text.to_owned() }),
        }
    }
}

impl fmt::Display for HeaderSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lenient => "lenient",
            Self::Strict => "strict",
        })
    }
}

/// A text that names no [`HeaderSyntax`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown header syntax {got:?}; it takes lenient or strict")]
pub struct HeaderSyntaxError {
    got: String,
}
