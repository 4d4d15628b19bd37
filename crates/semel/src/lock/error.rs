//! Why a lock was not got, or not given back.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use semel_core::lock::LockKind;
use semel_core::protocol::lock::Occupant;
use semel_core::{KeyError, StoreError, StoreErrorKind, TtlError};

use crate::problem::{KeyFault, Problem, ProblemKind};

/// Why a lock was not got, or not given back.
///
/// "Held" and "the store can't be reached" are never one answer: who takes the second for the first
/// skips work that nobody does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The resource has no name that a store takes.
    #[error("the name of the resource can't be used: {0}")]
    Resource(#[source] KeyError),
    /// A duration or number that makes no sense.
    #[error(transparent)]
    Setting(#[from] LockSettingError),
    /// Others hold it.
    #[error("{0}")]
    Held(HeldBy),
    /// Others still held it when the time for waiting was up.
    #[error("the time for waiting was up: {0}")]
    TimedOut(HeldBy),
    /// It is in use as a lock of another kind.
    #[error("the resource is in use as a {recorded}")]
    OtherKind {
        /// Which.
        recorded: LockKind,
    },
    /// Waiting was called off: the engine is shutting down.
    #[error("waiting was called off: the engine is shutting down")]
    Cancelled,
    /// The store can't be reached, and nothing was changed.
    #[error("the store can't be reached")]
    Unavailable(#[source] StoreError),
    /// The reply was lost, and a look did not tell either. What may have been written is taken
    /// back in the background; at worst the lock is blocked for one lease.
    #[error("the store's reply was lost")]
    Indeterminate(#[source] StoreError),
    /// The store refused for good: no room, no permission.
    #[error("the store refused")]
    Refused(#[source] StoreError),
    /// There is an entry that can't be read. It is never taken for a free lock.
    #[error("the entry of the lock can't be read")]
    Damaged(#[source] StoreError),
}

/// A setting of a lock that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockSettingError {
    /// A duration that is zero or longer than ten years.
    #[error("`{setting}`: {fault}")]
    Duration {
        /// Which setting.
        setting: &'static str,
        /// What is wrong with it.
        #[source]
        fault: TtlError,
    },
    /// The most time of holding is less than a single lease.
    #[error("`max_hold` is {max_hold:?}; it must be at least `ttl`, which is {ttl:?}")]
    MaxHoldBelowTtl {
        /// The most time.
        max_hold: Duration,
        /// The lease.
        ttl: Duration,
    },
    /// An extension beyond the most time of holding.
    #[error("the lock would be held for longer than `max_hold` allows, which is {max_hold:?}")]
    BeyondMaxHold {
        /// The most time.
        max_hold: Duration,
    },
    /// No resource at all.
    #[error("there is no resource to lock")]
    NoResource,
    /// A range of worker ids that is empty.
    #[error("a range of worker ids has at least one number")]
    NoWorkerId,
}

/// A resource, and who is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldBy {
    /// The resource, as its caller named it.
    pub resource: Arc<str>,
    /// Who has it, since when, for how long at most, and how many wait.
    pub occupant: Occupant,
}

impl HeldBy {
    pub(super) const fn new(resource: Arc<str>, occupant: Occupant) -> Self {
        Self { resource, occupant }
    }

    /// Who has it, as far as they said.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        self.occupant.owner.as_ref().map(semel_core::Owner::as_str)
    }

    /// How long they have it at most, unless they renew it.
    #[must_use]
    pub const fn ttl_left(&self) -> Duration {
        self.occupant.left.as_duration()
    }
}

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = self.owner().unwrap_or("somebody");
        let left = self.ttl_left().as_secs_f64();
        write!(f, "{} is held by {owner}, for {left:.1} s more at most", self.resource)
    }
}

impl LockError {
    pub(super) fn of(error: StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Unknown => Self::Indeterminate(error),
            StoreErrorKind::Refused(_) => Self::Refused(error),
            StoreErrorKind::Damaged => Self::Damaged(error),
            // What kinds there will be besides: nothing is known to have been changed.
            _ => Self::Unavailable(error),
        }
    }

    /// What a caller further out is told, with its code: `CACHING_CONFLICT_001` for a lock that is
    /// held, `CACHING_UNAVAILABLE_001` for a store that can't be reached. None for what is the
    /// program's own mistake.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        use semel_core::Refusal::{Full, TooLarge};
        let kind = match self {
            Self::Resource(fault) => ProblemKind::KeyInvalid { fault: KeyFault::from(fault) },
            Self::Held(by) | Self::TimedOut(by) => {
                ProblemKind::LockHeld { resource: Arc::clone(&by.resource) }
            }
            Self::Refused(error)
                if matches!(error.kind(), StoreErrorKind::Refused(Full | TooLarge)) =>
            {
                ProblemKind::StoreFull
            }
            Self::Cancelled
            | Self::Unavailable(_)
            | Self::Indeterminate(_)
            | Self::Refused(_)
            | Self::Damaged(_) => ProblemKind::StoreUnavailable,
            Self::Setting(_) | Self::OtherKind { .. } => return None,
        };
        Some(kind.into())
    }
}
