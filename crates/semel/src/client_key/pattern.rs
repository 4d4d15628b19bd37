//! A key format that an operator writes as a regular expression.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};

/// A regular expression that a key must match as a whole.
///
/// It is anchored at both ends, whatever it holds: `[a-z]+|[0-9]+` takes `abc` and not `abc1`.
/// The syntax is that of crate `regex-lite`: no look-around, no back-references, and classes such
/// as `\w` and `\d` are ASCII. Matching takes time linear in the key, and the compiled size is
/// bounded, so neither a pattern nor a key can make a check hang.
#[derive(Clone)]
pub struct KeyPattern {
    source: Box<str>,
    regex: Regex,
}

impl KeyPattern {
    /// The longest pattern, in characters.
    pub const MAX_CHARS: usize = 1024;

    /// The compiled size. A check costs at most this size times the length of the key, so it
    /// bounds the time too; `[0-9A-Za-z_-]{1,255}` takes about a quarter of it.
    const MAX_COMPILED_BYTES: usize = 128 * 1024;
    const MAX_NESTING: u32 = 50;

    /// Compiles `source`.
    ///
    /// # Errors
    ///
    /// [`KeyPatternError`] when the pattern is empty, too long, too large once compiled, or no
    /// regular expression.
    pub fn new(source: &str) -> Result<Self, KeyPatternError> {
        if source.is_empty() {
            return Err(KeyPatternError::Empty);
        }
        let chars = source.chars().count();
        if chars > Self::MAX_CHARS {
            return Err(KeyPatternError::TooLong { chars });
        }
        // Alone first: `a)|(b` compiles inside a group, and would escape the anchors there.
        Self::compile(source).map_err(|error| KeyPatternError::Invalid(error.to_string()))?;
        let regex = Self::compile(&format!(r"\A(?:{source})\z"))
            .map_err(|error| KeyPatternError::NotAnchorable(error.to_string()))?;
        Ok(Self { source: source.into(), regex })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    pub(super) fn takes(&self, key: &str) -> bool {
        self.regex.is_match(key)
    }

    fn compile(source: &str) -> Result<Regex, regex_lite::Error> {
        RegexBuilder::new(source)
            .size_limit(Self::MAX_COMPILED_BYTES)
            .nest_limit(Self::MAX_NESTING)
            .build()
    }
}

impl PartialEq for KeyPattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for KeyPattern {}

impl fmt::Debug for KeyPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPattern({:?})", self.source)
    }
}

/// Why a text is no [`KeyPattern`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyPatternError {
    /// An empty pattern matches the empty key only, and an empty key is never valid.
    #[error("the pattern is empty; it takes a regular expression that matches the whole key")]
    Empty,
    /// More than [`KeyPattern::MAX_CHARS`].
    #[error("the pattern has {chars} characters; it takes {max} at most", max = KeyPattern::MAX_CHARS)]
    TooLong {
        /// How many characters it had.
        chars: usize,
    },
    /// No regular expression, or one that becomes too large.
    #[error("the pattern is not usable: {0}")]
    Invalid(String),
    /// It compiles alone, but not between anchors: it ends inside a comment (flag `x`), or the
    /// anchors were what made it too large.
    #[error("the pattern can't be anchored on the whole key: {0}")]
    NotAnchorable(String),
}
