//! Why a cache did not do what it was asked.

use std::time::Duration;

use semel_core::{KeyError, Refusal, StoreError, StoreErrorKind, TtlError};

use super::lifetime::LifetimeError;
use crate::problem::{KeyFault, Problem, ProblemKind};
use crate::run::CodecError;

/// Why a cache did not do what it was asked.
///
/// That a value is absent is an answer, never an error; and a store that can't be reached, or an
/// entry that can't be read, is never an absent value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// No store takes a key like this.
    #[error("the key can't be used in a cache: {0}")]
    Key(#[source] KeyError),
    /// A lifetime that makes no sense.
    #[error(transparent)]
    Lifetime(#[from] LifetimeError),
    /// The store can't be reached. Of a write: nothing was changed. Of a read: a sliding lifetime
    /// may have been renewed.
    #[error("the store can't be reached")]
    Unavailable(#[source] StoreError),
    /// The reply to a write was lost, and a look did not tell either: it may have been applied, or
    /// be applied yet.
    #[error("the store's reply was lost: it may have been applied")]
    Indeterminate(#[source] StoreError),
    /// The value is over the store's limit. Nothing was changed.
    #[error("the value is too large for the store")]
    TooLarge(#[source] StoreError),
    /// The store has no room: it throws nothing out that is still alive. Nothing was changed.
    #[error("the store is full")]
    Full(#[source] StoreError),
    /// The store refused for good: no permission, not usable. Nothing was changed.
    #[error("the store refused")]
    Refused(#[source] StoreError),
    /// There is an entry that can't be read. [`Cache::set`](super::Cache::set) puts another in its
    /// place, [`Cache::remove`](super::Cache::remove) removes it.
    #[error("the cached entry can't be read")]
    Damaged(#[source] StoreError),
    /// The value can't be written as bytes. Nothing was changed.
    #[error(transparent)]
    Encode(#[from] CodecError),
    /// There is a value, and it is none of the type that was asked for.
    #[error("the cached value is none of the type that was asked for")]
    OtherType(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The runtime that the blocking face worked on has been shut down. Nothing is known of what
    /// was under way.
    #[error("the runtime of the cache has been shut down")]
    Shutdown,
}

impl CacheError {
    /// What came of a write.
    pub(super) fn of_write(error: StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Unknown => Self::Indeterminate(error),
            _ => Self::of_read(error),
        }
    }

    /// What came of a read, which changes nothing that matters.
    pub(super) fn of_read(error: StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Refused(Refusal::TooLarge) => Self::TooLarge(error),
            StoreErrorKind::Refused(Refusal::Full) => Self::Full(error),
            StoreErrorKind::Refused(_) => Self::Refused(error),
            StoreErrorKind::Damaged => Self::Damaged(error),
            _ => Self::Unavailable(error),
        }
    }

    /// What a caller further out is told, with its code. None for what is the program's own
    /// mistake.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        let kind = match self {
            Self::Key(fault) => ProblemKind::KeyInvalid { fault: KeyFault::from(fault) },
            Self::TooLarge(_) | Self::Full(_) => ProblemKind::StoreFull,
            Self::Unavailable(_)
            | Self::Indeterminate(_)
            | Self::Refused(_)
            | Self::Damaged(_)
            | Self::Shutdown => ProblemKind::StoreUnavailable,
            Self::Lifetime(_) | Self::Encode(_) | Self::OtherType(_) => return None,
        };
        Some(kind.into())
    }
}

/// A setting of a cache that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheSettingError {
    /// A default lifetime that is zero or longer than ten years.
    #[error(
        "cache.default_time_to_live_seconds = {}: {fault}; it must be a positive number of \
         seconds, at most 315576000 (ten years); the default is 300",
        got.as_secs_f64()
    )]
    DefaultTimeToLive {
        /// What it got.
        got: Duration,
        /// What is wrong with it.
        #[source]
        fault: TtlError,
    },
    /// A namespace that leaves no room for keys, or is empty.
    #[error("the namespace of the cache: {fault}")]
    Namespace {
        /// What is wrong with it.
        #[source]
        fault: KeyError,
    },
}
