//! The rule a client's key is checked by.

use super::format::KeyFormat;
use super::key::ClientKey;
use super::max_chars::MaxKeyChars;
use super::rejected::KeyRejected;

/// What a door takes as a client's key: form, length, alphabet. Empty and blank keys are refused
/// by every rule.
///
/// ```
/// # use semel::{KeyFormat, KeyRule};
/// let rule = KeyRule::http().with_format(KeyFormat::Ulid);
/// assert_eq!(rule.check("01ARZ3NDEKTSV4RRFFQ69G5FAV")?.as_str(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
/// assert_eq!(rule.check("order-1").unwrap_err().reason(), "not-a-ulid");
/// # Ok::<(), semel::KeyRejected>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct KeyRule {
    format: KeyFormat,
    max_chars: MaxKeyChars,
    alphabet: KeyAlphabet,
}

impl KeyRule {
    /// 1 to 255 characters of any alphabet: for function calls and messages. The default.
    pub const fn new() -> Self {
        Self {
            format: KeyFormat::Any,
            max_chars: MaxKeyChars::DEFAULT,
            alphabet: KeyAlphabet::Unicode,
        }
    }

    /// 1 to 255 characters of visible ASCII: for HTTP.
    pub const fn http() -> Self {
        Self {
            format: KeyFormat::Any,
            max_chars: MaxKeyChars::DEFAULT,
            alphabet: KeyAlphabet::VisibleAscii,
        }
    }

    /// The same rule with another form.
    pub fn with_format(self, format: KeyFormat) -> Self {
        Self { format, ..self }
    }

    /// The same rule with another length.
    pub fn with_max_chars(self, max_chars: MaxKeyChars) -> Self {
        Self { max_chars, ..self }
    }

    /// The same rule with another alphabet.
    pub fn with_alphabet(self, alphabet: KeyAlphabet) -> Self {
        Self { alphabet, ..self }
    }

    /// The form keys must have.
    #[must_use]
    pub const fn format(&self) -> &KeyFormat {
        &self.format
    }

    /// How long keys may be.
    #[must_use]
    pub const fn max_chars(&self) -> MaxKeyChars {
        self.max_chars
    }

    /// Checks `text` and makes it a key. Nothing is trimmed or changed.
    ///
    /// # Errors
    ///
    /// [`KeyRejected`], the first of: too long, empty or blank, alphabet, form.
    pub fn check(&self, text: &str) -> Result<ClientKey, KeyRejected> {
        self.admit(text)?;
        Ok(ClientKey::accepted(text))
    }

    /// As [`KeyRule::check`], for who has no use for a key of its own.
    pub(crate) fn admit(&self, text: &str) -> Result<(), KeyRejected> {
        // Length before all that walks the text: a megabyte costs no more than a long key, and
        // no more bytes than allowed are no more characters.
        let max = self.max_chars.get();
        if text.len() > max && text.chars().nth(max).is_some() {
            return Err(KeyRejected::TooLong { max: self.max_chars });
        }
        if let Some(rejected) = KeyRejected::of_blank(text) {
            return Err(rejected);
        }
        self.alphabet.check(text)?;
        self.format.check(text)
    }
}

// ===== KeyAlphabet =====

/// Which characters a key may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeyAlphabet {
    /// Any. What a store key can't hold is encoded when the store key is composed. The default.
    #[default]
    Unicode,
    /// `!` to `~`: what every HTTP client, proxy and log carries unchanged.
    VisibleAscii,
}

impl KeyAlphabet {
    fn check(self, text: &str) -> Result<(), KeyRejected> {
        match self {
            Self::Unicode => Ok(()),
            Self::VisibleAscii => match text.chars().position(|c| !c.is_ascii_graphic()) {
                None => Ok(()),
                Some(at) => Err(KeyRejected::NotVisibleAscii { at }),
            },
        }
    }
}
