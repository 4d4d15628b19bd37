//! The single choices. Each says what it trades.

use std::fmt;
use std::str::FromStr;

use semel::UnknownWord;

/// What a repeat gets when the recorded answer was too large, or endless, to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Oversized {
    /// `CACHING_CONFLICT_003`, `response_unavailable`. Default: a repeat never gets less than the
    /// first caller without being told.
    #[default]
    Unavailable,
    /// The status and the headers, with an empty body.
    Status,
}

/// What becomes of the handler when its client hangs up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnDisconnect {
    /// It runs on and is recorded; the retry replays it. Default.
    #[default]
    Finish,
    /// It is dropped where it stands. What it did is not known: the key stays held until its
    /// lease ends.
    Cancel,
}

/// What to do with a request that nobody put a [`Scope`](semel::Scope) into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Anonymous {
    /// Fail it (500) and say so in the log: a forgotten authentication layer would let all
    /// callers share their keys. Default.
    #[default]
    Refuse,
    /// All callers without a scope share one space of keys. Right for services without callers
    /// of different standing.
    Shared,
}

macro_rules! words {
    ($type:ident: $($variant:ident = $word:literal),+ $(,)?) => {
        impl $type {
            /// The words that this setting takes.
            pub const WORDS: &[&str] = &[$($word),+];
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
                f.write_str(match self { $(Self::$variant => $word),+ })
            }
        }
    };
}

words!(Oversized: Unavailable = "unavailable", Status = "status");
words!(OnDisconnect: Finish = "finish", Cancel = "cancel");
words!(Anonymous: Refuse = "refuse", Shared = "shared");
