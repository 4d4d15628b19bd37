//! Named promises, each with the condition it holds under.

use super::{InDoubtPolicy, OnException, PolicyBuilder};

/// What is promised about the effect of a call. There is no "exactly once" without a condition;
/// each guarantee names its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Guarantee {
    /// One effect, as long as a failed or crashed attempt left none behind: failed work frees its
    /// key, a crashed owner's key is taken over after its lease. Default of the library.
    #[default]
    Retryable,
    /// At most one effect. An outcome that can't be known is never run again: every retry gets
    /// the first answer, "in progress", or "outcome unknown".
    AtMostOnce,
    /// One effect and one answer, if what the work calls dedups by key itself: an unfinished
    /// claim is taken over with a higher fence, and both are handed down.
    Cooperative,
    /// Exactly one effect, as long as that effect is rows of the store's own database: the claim,
    /// the rows and the recorded answer commit in one transaction, and whatever goes wrong before
    /// that takes all of them back. It needs a store with transactions
    /// ([`Once::with_transactions`](crate::Once::with_transactions)) and a door that hands them to
    /// the work, such as the layer of crate `semel-http`.
    Transactional,
}

impl Guarantee {
    /// The promise, in one line.
    #[must_use]
    pub const fn promise(self) -> &'static str {
        match self {
            Self::Retryable => "one effect as long as a failed or crashed attempt left none behind",
            Self::AtMostOnce => {
                "at most one effect; every retry gets the first answer, 409, or \"outcome unknown\""
            }
            Self::Cooperative => "one effect, one answer",
            Self::Transactional => "exactly one effect",
        }
    }

    /// The condition it holds under.
    #[must_use]
    pub const fn condition(self) -> &'static str {
        match self {
            Self::Retryable => "the work rolls back when it fails",
            Self::AtMostOnce => "the store keeps what it acknowledged",
            Self::Cooperative => "what the work calls dedups by the key that it is handed",
            Self::Transactional => "record and rows commit in one transaction of the store",
        }
    }

    /// Whether everything the work answered is final, a failure included.
    #[must_use]
    pub const fn freezes_failures(self) -> bool {
        matches!(self, Self::AtMostOnce)
    }

    /// Whether the work runs in a transaction of the store's.
    #[must_use]
    pub const fn needs_transaction(self) -> bool {
        matches!(self, Self::Transactional)
    }

    pub(super) fn apply(self, builder: PolicyBuilder) -> PolicyBuilder {
        match self {
            Self::Retryable | Self::Cooperative | Self::Transactional => {
                builder.in_doubt(InDoubtPolicy::Rerun).on_exception(OnException::Release)
            }
            Self::AtMostOnce => {
                builder.in_doubt(InDoubtPolicy::Reject).on_exception(OnException::Doubt)
            }
        }
    }
}
