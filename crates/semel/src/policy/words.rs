//! The choices as words: what settings files, flags and environment variables say.

use std::fmt;
use std::str::FromStr;

use super::{BindOperation, DetectExpired, Guarantee, MissingKey, OnException, Preset, StoreDown};

/// A word that a setting does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is none of: {}", takes.join(", "))]
pub struct UnknownWord {
    got: String,
    takes: &'static [&'static str],
}

impl UnknownWord {
    /// The words that would have been taken.
    #[must_use]
    pub const fn takes(&self) -> &'static [&'static str] {
        self.takes
    }

    /// For settings of other crates.
    #[must_use]
    pub fn new(got: &str, takes: &'static [&'static str]) -> Self {
        // Shown to a person: long enough to recognise, short enough for one line, and nothing that
        // a terminal would obey.
        let shown = got.chars().take(80).map(|c| if c.is_control() { '\u{FFFD}' } else { c });
        Self { got: shown.collect(), takes }
    }
}

macro_rules! words {
    ($type:ident: $($variant:ident = $word:literal),+ $(,)?) => {
        impl $type {
            /// The words that this setting takes.
            pub const WORDS: &[&str] = &[$($word),+];

            /// The setting's word.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl FromStr for $type {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(UnknownWord::new(word, Self::WORDS)),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

words!(MissingKey: Require = "require", Optional = "optional");
words!(BindOperation: Reject = "reject", Separate = "separate");
words!(DetectExpired: Off = "false", On = "true");
words!(OnException: Release = "release", Record = "record", Doubt = "doubt");
words!(StoreDown: Closed = "closed", Open = "open");
words!(Preset: Default = "default", Rest = "rest", Xihan = "xihan", Stripe = "stripe", Ietf = "ietf");
words!(
    Guarantee: Retryable = "retryable",
    AtMostOnce = "at_most_once",
    Cooperative = "cooperative",
    Transactional = "transactional"
);
