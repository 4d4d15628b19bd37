//! How long a client's key may be.

use std::fmt;

/// How long a key may be, in characters (Unicode scalar values).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaxKeyChars(usize);

impl MaxKeyChars {
    /// 255.
    pub const DEFAULT: Self = Self(255);
    /// 500: what leaves room in a store key (512 characters) for its prefix and a short scope.
    pub const MAX: Self = Self(500);

    /// A limit of 1 to 500 characters.
    ///
    /// # Errors
    ///
    /// [`MaxKeyCharsError`] for 0 and for more than [`MaxKeyChars::MAX`].
    pub const fn new(chars: usize) -> Result<Self, MaxKeyCharsError> {
        if chars == 0 || chars > Self::MAX.0 {
            return Err(MaxKeyCharsError { got: chars });
        }
        Ok(Self(chars))
    }

    /// The limit in characters.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

impl Default for MaxKeyChars {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for MaxKeyChars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for MaxKeyChars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MaxKeyChars({})", self.0)
    }
}

/// A number of characters that no key can be limited to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key can't be limited to {got} characters; it takes 1 to {}", MaxKeyChars::MAX)]
pub struct MaxKeyCharsError {
    got: usize,
}
