//! The names that keep users of one store apart.

use std::fmt;
use std::sync::Arc;

use crate::key::Key;

/// The name of a namespace: 1 to 64 of the characters `A-Z a-z 0-9 . _ -`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Namespace(Arc<str>);

impl Namespace {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 64;

    /// Checks `name` and makes it a namespace.
    ///
    /// # Errors
    ///
    /// [`NamespaceError`] when it is empty, too long or holds another character.
    pub fn new(name: &str) -> Result<Self, NamespaceError> {
        let chars = name.chars().count();
        if chars == 0 || chars > Self::MAX_CHARS {
            return Err(NamespaceError::Length { chars });
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        match name.chars().position(|c| !allowed(c)) {
            Some(at) => Err(NamespaceError::Character { at }),
            None => Ok(Self(format!("{name}/").into())),
        }
    }

    /// The key that sorts before all of the namespace's keys and is none of them.
    pub(super) fn as_key(&self) -> Key {
        Key::new(Arc::clone(&self.0)).expect("a namespace follows the grammar of keys")
    }

    /// What stands before keys: the name and the `/` that ends it.
    pub(super) fn before_keys(&self) -> &str {
        &self.0
    }

    /// The name, without the `/` that ends it in keys.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.trim_end_matches('/')
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Namespace({})", self.name())
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a text is no namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// Empty, or more than [`Namespace::MAX_CHARS`] characters.
    #[error("the namespace has {chars} characters; it takes 1 to 64")]
    Length {
        /// How many characters it had.
        chars: usize,
    },
    /// A character that may not be in it.
    #[error("the namespace takes the characters A-Z a-z 0-9 . _ -; character {at} is another")]
    Character {
        /// Its position, counted in characters from 0.
        at: usize,
    },
}
