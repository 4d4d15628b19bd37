//! Which answers of the handler are final.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use http::{StatusCode, response};
use semel::{Finality, UnknownWord};

use crate::marks::is_own;

/// Which answers are recorded and replayed, and which free the key for a retry.
#[derive(Clone, Default)]
pub enum Failures {
    /// Up to 499 is final, but for 408, 425 and 429, which say "later" by themselves. Default.
    #[default]
    FinalBelow500,
    /// Everything that the handler answered.
    All,
    /// Only what succeeded: below 400.
    SuccessOnly,
    /// As a function of the answer's head says.
    Custom(Arc<dyn Fn(&response::Parts) -> Finality + Send + Sync>),
}

impl Failures {
    /// The words that this setting takes.
    pub const WORDS: &[&str] = &["final_below_500", "all", "success_only"];

    /// Judges an answer of the handler.
    ///
    /// An answer that an idempotency layer further in gave for itself is always transient: that
    /// another call is in flight is nothing to replay.
    #[must_use]
    pub fn judge(&self, head: &response::Parts) -> Finality {
        if is_own(head) || head.status.is_informational() {
            return Finality::Transient;
        }
        let is_final = match self {
            Self::FinalBelow500 => head.status.as_u16() < 500 && !says_later(head.status),
            Self::All => true,
            Self::SuccessOnly => head.status.as_u16() < 400,
            Self::Custom(judge) => return judge(head),
        };
        if is_final { Finality::Final } else { Finality::Transient }
    }
}

const fn says_later(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429)
}

impl FromStr for Failures {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "final_below_500" => Ok(Self::FinalBelow500),
            "all" => Ok(Self::All),
            "success_only" => Ok(Self::SuccessOnly),
            _ => Err(UnknownWord::new(word, Self::WORDS)),
        }
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FinalBelow500 => "FinalBelow500",
            Self::All => "All",
            Self::SuccessOnly => "SuccessOnly",
            Self::Custom(_) => "Custom(..)",
        })
    }
}
