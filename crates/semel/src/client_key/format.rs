//! Which form a key must have.

use std::fmt;
use std::str::FromStr;

use super::ids::{Ulid, Uuid};
use super::pattern::{KeyPattern, KeyPatternError};
use super::rejected::KeyRejected;

/// The form a key must have, beyond length and alphabet. Setting `idempotency.key_format`.
///
/// Its text form is `any`, `uuid`, `uuid-v7`, `ulid` or `pattern:REGEX`, in small letters; what
/// follows `pattern:` is taken as it is.
///
/// ```
/// # use semel::{KeyFormat, KeyFormatError};
/// let format: KeyFormat = "pattern:order-[0-9]{8}-[0-9]{4}".parse()?;
/// assert_eq!(format.to_string(), "pattern:order-[0-9]{8}-[0-9]{4}");
/// assert_eq!(
///     "uuid7".parse::<KeyFormat>().unwrap_err().to_string(),
///     r#"unknown key format "uuid7"; it takes any, uuid, uuid-v7, ulid or pattern:REGEX"#,
/// );
/// # Ok::<(), KeyFormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KeyFormat {
    /// Any text that is neither empty nor blank. The default.
    #[default]
    Any,
    /// A UUID of RFC 9562, versions 1 to 8, written 8-4-4-4-12 in letters of any case.
    Uuid,
    /// A UUID of version 7, which carries the time of its making.
    UuidV7,
    /// A ULID: 26 digits of Crockford's base 32 in letters of any case, without I, L, O and U.
    Ulid,
    /// A text that matches a pattern from its first to its last character.
    Pattern(KeyPattern),
}

impl KeyFormat {
    pub(super) fn check(&self, key: &str) -> Result<(), KeyRejected> {
        let fault = match self {
            Self::Any => return Ok(()),
            Self::Uuid if Uuid::parse(key).is_some() => return Ok(()),
            Self::Uuid => KeyRejected::NotAUuid,
            Self::UuidV7 if Uuid::parse(key).is_some_and(Uuid::is_v7) => return Ok(()),
            Self::UuidV7 => KeyRejected::NotAUuidV7,
            Self::Ulid if Ulid::parse(key).is_some() => return Ok(()),
            Self::Ulid => KeyRejected::NotAUlid,
            Self::Pattern(pattern) if pattern.takes(key) => return Ok(()),
            Self::Pattern(pattern) => KeyRejected::PatternMismatch { pattern: pattern.clone() },
        };
        Err(fault)
    }
}

impl FromStr for KeyFormat {
    type Err = KeyFormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(pattern) = text.strip_prefix("pattern:") {
            return Ok(Self::Pattern(KeyPattern::new(pattern)?));
        }
        match text {
            "any" => Ok(Self::Any),
            "uuid" => Ok(Self::Uuid),
            "uuid-v7" => Ok(Self::UuidV7),
            "ulid" => Ok(Self::Ulid),
            _ => Err(KeyFormatError::Unknown { got: text.to_owned() }),
        }
    }
}

impl fmt::Display for KeyFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Uuid => f.write_str("uuid"),
            Self::UuidV7 => f.write_str("uuid-v7"),
            Self::Ulid => f.write_str("ulid"),
            Self::Pattern(pattern) => write!(f, "pattern:{}", pattern.as_str()),
        }
    }
}

/// Why a text names no [`KeyFormat`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFormatError {
    /// None of the names.
    #[error("unknown key format {got:?}; it takes any, uuid, uuid-v7, ulid or pattern:REGEX")]
    Unknown {
        /// What stood there.
        got: String,
    },
    /// Behind `pattern:` stands no usable pattern.
    #[error(transparent)]
    Pattern(#[from] KeyPatternError),
}
