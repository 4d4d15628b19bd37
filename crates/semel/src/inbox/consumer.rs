//! Who handles messages.

use std::fmt;
use std::sync::Arc;

/// The name of a consumer: everybody who shares it shares the work, and a message is handled once
/// among them. Two consumers of one message handle it once each.
///
/// All processes that read one queue for one purpose have one name, and keep it over releases: a
/// new name knows of no message that was handled before.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Consumer(Arc<str>);

impl Consumer {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 128;

    /// A consumer of this name: 1 to 128 characters, no white space, no control characters.
    ///
    /// # Errors
    ///
    /// [`ConsumerError`].
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, ConsumerError> {
        let name = name.into();
        let chars = name.chars().count();
        if !(1..=Self::MAX_CHARS).contains(&chars) {
            return Err(ConsumerError::Length { chars });
        }
        match name.chars().position(|c| c.is_whitespace() || c.is_control()) {
            Some(at) => Err(ConsumerError::Character { at }),
            None => Ok(Self(name)),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Consumer({})", self.0)
    }
}

/// Why a text is no name of a consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConsumerError {
    /// It is empty or too long.
    #[error("the consumer's name has {chars} characters; it takes 1 to 128")]
    Length {
        /// How many it has.
        chars: usize,
    },
    /// It has white space or a control character in it.
    #[error(
        "the consumer's name has white space or a control character at character {at}; it takes \
         neither"
    )]
    Character {
        /// Its position, counted in characters from 0.
        at: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_in_one_word() {
        assert_eq!(Consumer::new("billing").unwrap().to_string(), "billing");
        assert!(Consumer::new("é".repeat(128)).is_ok());
        assert_eq!(Consumer::new(""), Err(ConsumerError::Length { chars: 0 }));
        assert_eq!(Consumer::new("é".repeat(129)), Err(ConsumerError::Length { chars: 129 }));
        assert_eq!(Consumer::new("a b"), Err(ConsumerError::Character { at: 1 }));
        assert_eq!(Consumer::new("ab\n"), Err(ConsumerError::Character { at: 2 }));
    }
}
