//! Why a request's key can't be read. No message holds the key, nor any part of a field value.

use std::fmt;

use semel::{KeyRejected, KeyRule, Problem, ProblemKind};

use super::place::{BaggageKey, KeySource};
use crate::problem;

/// Why a request has no usable key although it carries one: HTTP 400, `CACHING_VALIDATION_001`.
///
/// The message names the place and what is expected there, and is fit to be shown to the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// A header can't be read.
    #[error("{place}: {fault}")]
    Header {
        /// The header.
        place: KeySource,
        /// What is wrong with it.
        fault: HeaderFault,
    },
    /// The baggage, or the key's member in it, can't be read.
    #[error("{place}: {fault}")]
    Baggage {
        /// The member.
        place: KeySource,
        /// What is wrong with it.
        fault: BaggageFault,
    },
    /// A text was read, and it is no key.
    #[error("{place}: {rejected}")]
    Rejected {
        /// Where it was read.
        place: KeySource,
        /// Why it is no key.
        rejected: KeyRejected,
    },
    /// Two places carry different keys.
    #[error("{first} and {second} carry different keys; they must be equal, or only one be sent")]
    Disagree {
        /// The first place that carries a key, in the configured order.
        first: KeySource,
        /// The place that carries another.
        second: KeySource,
    },
}

impl KeyFault {
    /// A short word for programs, as in the `reason` parameter of `CACHING_VALIDATION_001`. Words
    /// are never changed, only added.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Header { fault, .. } => fault.reason(),
            Self::Baggage { fault, .. } => fault.reason(),
            Self::Rejected { rejected, .. } => rejected.reason(),
            Self::Disagree { .. } => "sources-disagree",
        }
    }

    /// The problem that it is for the caller, where keys have to keep `rule`.
    #[must_use]
    pub fn problem(&self, rule: &KeyRule) -> Problem {
        ProblemKind::KeyInvalid { fault: problem::key_fault(self, rule) }.into()
    }

    /// The place that is at fault; the second one where two disagree.
    #[must_use]
    pub const fn place(&self) -> &KeySource {
        match self {
            Self::Header { place, .. }
            | Self::Baggage { place, .. }
            | Self::Rejected { place, .. }
            | Self::Disagree { second: place, .. } => place,
        }
    }
}

// ===== HeaderFault =====

/// What is wrong with a key header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// The header was sent more than once, be it with equal values.
    #[error("the header was sent {count} times; exactly one is expected")]
    Several {
        /// How often.
        count: usize,
    },
    /// The value is longer than any key.
    #[error(
        "the value has {bytes} bytes; {max} at most are read",
        max = super::HeaderSyntax::MAX_BYTES
    )]
    TooLong {
        /// How many bytes it had.
        bytes: usize,
    },
    /// No value, or white space only.
    #[error("the value is empty; a key is expected, as in \"order-1\"")]
    Empty,
    /// A byte outside visible ASCII, or white space where none may stand.
    #[error(
        "the value has white space, a control character or a byte beyond ASCII at byte {at}; \
         visible ASCII is expected"
    )]
    NotVisibleAscii {
        /// Its position, counted in bytes from 0; lenient syntax skips leading white space first.
        at: usize,
    },
    /// More than one member, or an inner list.
    #[error("the value is a list; a single quoted string is expected")]
    List,
    /// A structured field of another type, where syntax is strict.
    #[error("the value is {0}; a quoted string is expected, as in \"order-1\"")]
    NotAString(ItemKind),
    /// Neither a string nor any other structured field.
    #[error("the value is malformed; a quoted string is expected, as in \"order-1\" (RFC 9651)")]
    Malformed,
    /// An unquoted value with `"` or `;` in it, which has more than one reading.
    #[error("the value has a quote or a semicolon at byte {at}; put the whole key in quotes")]
    NeedsQuotes {
        /// Its position, counted in bytes from 0; lenient syntax skips leading white space first.
        at: usize,
    },
}

impl HeaderFault {
    /// The stable word for it; see [`KeyFault::reason`].
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Several { .. } => "several-headers",
            Self::TooLong { .. } => "too-long",
            Self::Empty => "empty",
            Self::NotVisibleAscii { .. } => "not-visible-ascii",
            Self::List => "list",
            Self::NotAString(_) => "not-a-string",
            Self::Malformed => "malformed",
            Self::NeedsQuotes { .. } => "needs-quotes",
        }
    }
}

/// The type of a structured field item (RFC 9651, section 3.3) that is no string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ItemKind {
    /// As in `42`.
    Integer,
    /// As in `4.2`.
    Decimal,
    /// As in `order-1`: a word without quotes.
    Token,
    /// As in `:aGk=:`.
    ByteSequence,
    /// As in `?1`.
    Boolean,
    /// As in `@1659578233`.
    Date,
    /// As in `%"f%c3%bc"`.
    DisplayString,
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer => "an integer",
            Self::Decimal => "a decimal",
            Self::Token => "a token without quotes",
            Self::ByteSequence => "a byte sequence",
            Self::Boolean => "a boolean",
            Self::Date => "a date",
            Self::DisplayString => "a display string",
        })
    }
}

// ===== BaggageFault =====

/// What is wrong with the baggage, or with the key's member in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaggageFault {
    /// More bytes over all `baggage` headers than are read.
    #[error(
        "the baggage has {bytes} bytes; {max} at most are read",
        max = BaggageKey::MAX_BYTES
    )]
    TooLarge {
        /// How many bytes it had.
        bytes: usize,
    },
    /// More members over all `baggage` headers than are read.
    #[error("the baggage has more than {max} members", max = BaggageKey::MAX_MEMBERS)]
    TooManyMembers,
    /// The member was sent twice, be it with equal values.
    #[error("the member was sent more than once; exactly one is expected")]
    Twice,
    /// A member without `=`, or with a byte that a baggage value can't hold.
    #[error("the member is malformed; key=value is expected, the value percent-encoded")]
    Malformed,
    /// `%` without two hexadecimal digits.
    #[error("the value has a % that two hexadecimal digits don't follow")]
    BadPercent,
    /// Bytes that are no UTF-8 once decoded.
    #[error("the value is not UTF-8 once its percent-encoding is undone")]
    NotUtf8,
    /// No value.
    #[error("the value is empty; a key is expected")]
    Empty,
}

impl BaggageFault {
    /// The stable word for it; see [`KeyFault::reason`].
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "baggage-too-large",
            Self::TooManyMembers => "baggage-too-many-members",
            Self::Twice => "baggage-member-twice",
            Self::Malformed => "baggage-malformed",
            Self::BadPercent => "baggage-bad-percent",
            Self::NotUtf8 => "baggage-not-utf8",
            Self::Empty => "empty",
        }
    }
}
