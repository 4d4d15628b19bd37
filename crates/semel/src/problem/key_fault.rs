//! What is wrong with a key, or with the place it came from.

use semel_core::KeyError;

use crate::client_key::KeyRejected;

/// Why a key is refused with `CACHING_VALIDATION_001`.
///
/// The words of [`KeyFault::reason`] are for programs; the sentences for people are made from the
/// variant, in both languages. Neither holds the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyFault {
    /// No character at all.
    Empty,
    /// White space and control characters only.
    Blank,
    /// More characters than are allowed.
    TooLong {
        /// The most characters that are taken.
        max_chars: usize,
    },
    /// Too long together with the tenant and the subject it is kept under.
    ComposedTooLong,
    /// A character outside `!` to `~`.
    NotVisibleAscii,
    /// White space in a key that may hold any other character.
    WhiteSpace,
    /// A control character in a key that may hold any other character.
    ControlCharacter,
    /// The key has to be a UUID.
    NotAUuid,
    /// The key has to be a UUID of version 7.
    NotAUuidV7,
    /// The key has to be a ULID.
    NotAUlid,
    /// The key has to match the pattern that the service has set.
    PatternMismatch,
    /// The header is no structured field Item of type String (RFC 9651), nor a bare token.
    MalformedHeader,
    /// The key stands bare, and this service takes the quoted form only.
    NotQuoted,
    /// There is more than one key: several headers, or a list in one.
    SeveralKeys,
    /// Two sources, such as header and baggage, hold different keys.
    SourcesDisagree,
    /// The baggage header breaks its grammar (W3C Baggage).
    MalformedBaggage,
    /// The baggage header has more members or bytes than are read.
    BaggageTooLarge,
    /// The baggage member that holds the key is there twice.
    BaggageMemberTwice,
    /// The fields that are compared are to be selected from a JSON body, and the body is none.
    SelectionNotJson,
    /// The fields that are compared are not in the body, or are all null.
    SelectionEmpty,
    /// The store refuses it for a reason that has no word of its own yet.
    Other,
}

impl KeyFault {
    /// One of each variant, for tables and tests.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 21] = [
        Self::Empty,
        Self::Blank,
        Self::TooLong { max_chars: 255 },
        Self::ComposedTooLong,
        Self::NotVisibleAscii,
        Self::WhiteSpace,
        Self::ControlCharacter,
        Self::NotAUuid,
        Self::NotAUuidV7,
        Self::NotAUlid,
        Self::PatternMismatch,
        Self::MalformedHeader,
        Self::NotQuoted,
        Self::SeveralKeys,
        Self::SourcesDisagree,
        Self::MalformedBaggage,
        Self::BaggageTooLarge,
        Self::BaggageMemberTwice,
        Self::SelectionNotJson,
        Self::SelectionEmpty,
        Self::Other,
    ];

    /// A short word for programs: the parameter `reason`. Words are added, never changed.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Blank => "blank",
            Self::TooLong { .. } => "too-long",
            Self::ComposedTooLong => "composed-too-long",
            Self::NotVisibleAscii => "not-visible-ascii",
            Self::WhiteSpace => "white-space",
            Self::ControlCharacter => "control-character",
            Self::NotAUuid => "not-a-uuid",
            Self::NotAUuidV7 => "not-a-uuid-v7",
            Self::NotAUlid => "not-a-ulid",
            Self::PatternMismatch => "pattern-mismatch",
            Self::MalformedHeader => "malformed-header",
            Self::NotQuoted => "not-quoted",
            Self::SeveralKeys => "several-keys",
            Self::SourcesDisagree => "sources-disagree",
            Self::MalformedBaggage => "malformed-baggage",
            Self::BaggageTooLarge => "baggage-too-large",
            Self::BaggageMemberTwice => "baggage-member-twice",
            Self::SelectionNotJson => "selection-not-json",
            Self::SelectionEmpty => "selection-empty",
            Self::Other => "other",
        }
    }
}

impl From<&KeyRejected> for KeyFault {
    fn from(rejected: &KeyRejected) -> Self {
        match rejected {
            KeyRejected::Empty => Self::Empty,
            KeyRejected::Blank => Self::Blank,
            KeyRejected::TooLong { max } => Self::TooLong { max_chars: max.get() },
            KeyRejected::NotVisibleAscii { .. } => Self::NotVisibleAscii,
            KeyRejected::NotAUuid => Self::NotAUuid,
            KeyRejected::NotAUuidV7 => Self::NotAUuidV7,
            KeyRejected::NotAUlid => Self::NotAUlid,
            KeyRejected::PatternMismatch { .. } => Self::PatternMismatch,
        }
    }
}

impl From<&KeyError> for KeyFault {
    fn from(error: &KeyError) -> Self {
        match error {
            KeyError::Empty => Self::Empty,
            KeyError::TooLong { .. } => Self::ComposedTooLong,
            KeyError::WhiteSpace { .. } => Self::WhiteSpace,
            KeyError::Control { .. } => Self::ControlCharacter,
            _ => Self::Other,
        }
    }
}
