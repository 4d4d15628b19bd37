//! Why a text is no key.

use super::max_chars::MaxKeyChars;
use super::pattern::KeyPattern;

/// Why a [`KeyRule`](crate::KeyRule) refused a key. The message says what is expected and never
/// holds the key, nor any part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyRejected {
    /// No character at all.
    #[error("the key is empty; it takes at least one character")]
    Empty,
    /// White space and control characters only.
    #[error("the key is blank; it takes more than white space")]
    Blank,
    /// More characters than the rule allows.
    #[error("the key is too long; it takes {max} characters at most")]
    TooLong {
        /// The rule's limit.
        max: MaxKeyChars,
    },
    /// A character outside `!` to `~`.
    #[error(
        "the key has a space, a control character or a character beyond ASCII at position {at}; \
         it takes visible ASCII (! to ~)"
    )]
    NotVisibleAscii {
        /// Its position, counted in characters from 0.
        at: usize,
    },
    /// Format `uuid`.
    #[error("the key is not a UUID; it takes the form 8-4-4-4-12 with a version of 1 to 8")]
    NotAUuid,
    /// Format `uuid-v7`.
    #[error("the key is not a UUID of version 7; it takes the form 8-4-4-4-12")]
    NotAUuidV7,
    /// Format `ulid`.
    #[error("the key is not a ULID; it takes 26 characters of Crockford's base 32")]
    NotAUlid,
    /// Format `pattern`.
    #[error("the key does not match the pattern {}", pattern.as_str())]
    PatternMismatch {
        /// The pattern it should match as a whole.
        pattern: KeyPattern,
    },
}

impl KeyRejected {
    /// Why no rule at all takes `text`: it is empty or blank. None for every other text.
    #[must_use]
    pub fn of_blank(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Empty);
        }
        text.chars().all(|c| c.is_whitespace() || c.is_control()).then_some(Self::Blank)
    }

    /// A short word for programs, as in the `reason` parameter of `CACHING_VALIDATION_001`. Words
    /// are never changed, only added.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Blank => "blank",
            Self::TooLong { .. } => "too-long",
            Self::NotVisibleAscii { .. } => "not-visible-ascii",
            Self::NotAUuid => "not-a-uuid",
            Self::NotAUuidV7 => "not-a-uuid-v7",
            Self::NotAUlid => "not-a-ulid",
            Self::PatternMismatch { .. } => "pattern-mismatch",
        }
    }
}
