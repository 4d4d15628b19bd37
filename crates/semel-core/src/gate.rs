//! What gates answer: the checks that refuse a fence which is smaller than one they have seen.

use crate::fence::Fence;
use crate::key::KeyError;
use crate::protocol::{Passage, judge};
use crate::store_error::StoreError;

/// What a gate says to a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a fence that was refused must end the work"]
pub enum GateAnswer {
    /// It is the highest so far, or that one again: the work may go on.
    Passed,
    /// A higher one was seen: the lock is another's now, and the work must stop.
    Refused {
        /// The highest so far.
        seen: Fence,
    },
}

impl GateAnswer {
    /// The answer to `shown` of a gate that has seen `highest`, with `shown` among what it has seen.
    pub const fn of(highest: Fence, shown: Fence) -> Self {
        match judge(Some(highest), shown) {
            Passage::Refuse { seen } => Self::Refused { seen },
            Passage::Pass | Passage::Remember => Self::Passed,
        }
    }
}

/// Why a gate gave no answer. Whatever it is, the fence has not passed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The resource is no name of one: it is empty, too long, or holds white space or control
    /// characters. No lock can be held on it either.
    #[error("the resource has no name that a lock can have: {0}")]
    Resource(#[from] KeyError),
    /// The fence is larger than this gate can remember.
    #[error("fence {shown} is over {most}, the highest that this gate can remember")]
    FenceTooLarge {
        /// The fence that was shown.
        shown: Fence,
        /// The highest that the gate takes.
        most: Fence,
    },
    /// What the gate remembers in failed, or holds something that is no fence.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_that_has_seen_a_higher_one_says_which() {
        let fence = Fence::new;
        assert_eq!(GateAnswer::of(fence(7), fence(7)), GateAnswer::Passed);
        assert_eq!(GateAnswer::of(fence(9), fence(8)), GateAnswer::Refused { seen: fence(9) });
    }
}
