//! What happened, with what belongs to it.

use std::sync::Arc;
use std::time::Duration;

use semel_core::{Operation, StoreTime};

use super::code::Code;
use super::key_fault::KeyFault;

/// What happened. Each variant carries the parameters of its code and no others, so that a code
/// with somebody else's parameters can't be built.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A lock is held by somebody else.
    LockHeld {
        /// The resource, as the caller named it.
        resource: Arc<str>,
    },
    /// The first call with this key still runs.
    InProgress {
        /// When to come back; none where the policy says nothing about it.
        retry_after: Option<Duration>,
    },
    /// The key belongs to another operation.
    KeyReused {
        /// The operation that was asked for.
        operation: Operation,
        /// The operation that the key was first used for.
        recorded: Operation,
    },
    /// The first call is done, but its response wasn't kept or can't be read.
    ResponseUnavailable,
    /// Nobody knows how the first call ended, and it is not run again.
    InDoubt {
        /// When its owner was last heard of, by the store's clock.
        since: StoreTime,
    },
    /// The key breaks the grammar, or its sources disagree.
    KeyInvalid {
        /// What is wrong with it.
        fault: KeyFault,
    },
    /// There is no key, and there must be.
    KeyMissing {
        /// The header that is to hold it.
        header: Arc<str>,
    },
    /// The same key came with another request.
    PayloadMismatch {
        /// The parts that differ, by name: `query`, `content-type`, `body`, or a selection such
        /// as `$.amount`. Never their values. May be empty where only the whole was compared.
        differs: Vec<Arc<str>>,
    },
    /// The key was made longer ago than keys are remembered.
    KeyExpired {
        /// How old the key is, by the time it carries.
        age: Duration,
        /// How long keys are remembered.
        limit: Duration,
    },
    /// The request body is over the limit.
    BodyTooLarge {
        /// The most that is taken.
        limit: ByteCount,
    },
    /// The store can't be reached, or its answer can't be trusted.
    StoreUnavailable,
    /// The store is full and drops nothing that it holds.
    StoreFull,
}

impl ProblemKind {
    /// The code that stands for it.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::LockHeld { .. } => Code::LockHeld,
            Self::InProgress { .. } => Code::InProgress,
            Self::KeyReused { .. } => Code::KeyReused,
            Self::ResponseUnavailable => Code::ResponseUnavailable,
            Self::InDoubt { .. } => Code::InDoubt,
            Self::KeyInvalid { .. } => Code::KeyInvalid,
            Self::KeyMissing { .. } => Code::KeyMissing,
            Self::PayloadMismatch { .. } => Code::PayloadMismatch,
            Self::KeyExpired { .. } => Code::KeyExpired,
            Self::BodyTooLarge { .. } => Code::BodyTooLarge,
            Self::StoreUnavailable => Code::StoreUnavailable,
            Self::StoreFull => Code::StoreFull,
        }
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

impl ByteCount {
    /// So many bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}
