//! How calls are treated: every choice with its default, and named bundles of choices.

mod build;
mod choices;
mod finality;
mod guarantee;
mod preset;
mod reconcile;
mod words;

pub use build::{PolicyBuilder, PolicyError};
pub use choices::{
    BindOperation, DetectExpired, InDoubtPolicy, InFlight, KeyStorage, MissingKey, OnException,
    RetryAfter, StoreDown,
};
pub use finality::Finality;
pub use guarantee::Guarantee;
pub use preset::Preset;
pub use reconcile::{Doubtful, Reconcile, Reconciled};
pub use words::UnknownWord;

use std::time::Duration;

use semel_core::Ttl;

use crate::client_key::KeyRule;

/// How calls are treated. It is checked when it is built, so a policy that exists is sound.
///
/// A policy belongs to an operation, never to a store: several with different policies may share
/// one [`Once`](crate::Once).
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) guarantee: Guarantee,
    pub(crate) key_rule: KeyRule,
    pub(crate) key_storage: KeyStorage,
    pub(crate) missing_key: MissingKey,
    pub(crate) bind_operation: BindOperation,
    pub(crate) detect_expired: DetectExpired,
    pub(crate) lease: Ttl,
    pub(crate) keep: Ttl,
    pub(crate) max_execution: Duration,
    pub(crate) in_flight: InFlight,
    pub(crate) max_waiters_per_key: usize,
    pub(crate) retry_after: RetryAfter,
    pub(crate) on_exception: OnException,
    pub(crate) in_doubt: InDoubtPolicy,
    pub(crate) store_down: StoreDown,
}

impl Policy {
    /// The defaults, to be changed one by one.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// This policy, to be changed.
    pub fn to_builder(&self) -> PolicyBuilder {
        PolicyBuilder::from(self)
    }

    /// The guarantee that was asked for last. Choices that were made after it may have weakened it.
    #[must_use]
    pub const fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// What to do with a call that brings no key.
    #[must_use]
    pub const fn missing_key(&self) -> MissingKey {
        self.missing_key
    }

    /// What keys must look like.
    pub const fn key_rule(&self) -> &KeyRule {
        &self.key_rule
    }

    /// What to do when the work panics or raises an error instead of returning one.
    #[must_use]
    pub const fn on_exception(&self) -> OnException {
        self.on_exception
    }

    /// What to do when the first call still runs.
    #[must_use]
    pub const fn in_flight(&self) -> InFlight {
        self.in_flight
    }

    /// How many may wait for one key in this process.
    #[must_use]
    pub const fn max_waiters_per_key(&self) -> usize {
        self.max_waiters_per_key
    }

    /// The form in which keys are stored.
    #[must_use]
    pub const fn key_storage(&self) -> &KeyStorage {
        &self.key_storage
    }

    /// Whether keys that say their own age may be too old.
    #[must_use]
    pub const fn detect_expired(&self) -> DetectExpired {
        self.detect_expired
    }

    /// What `Retry-After` says.
    #[must_use]
    pub const fn retry_after(&self) -> RetryAfter {
        self.retry_after
    }

    /// What to do with an unfinished call whose owner is gone.
    #[must_use]
    pub const fn in_doubt(&self) -> &InDoubtPolicy {
        &self.in_doubt
    }

    /// What to do when the store can't be reached as a call begins.
    #[must_use]
    pub const fn store_down(&self) -> StoreDown {
        self.store_down
    }

    /// Whether a key belongs to one operation or each operation has its own.
    #[must_use]
    pub const fn bind_operation(&self) -> BindOperation {
        self.bind_operation
    }

    /// How long a running call holds its key unless it is renewed.
    #[must_use]
    pub const fn in_progress_time_to_live(&self) -> Duration {
        self.lease.as_duration()
    }

    /// How long a running call is renewed at most.
    #[must_use]
    pub const fn max_execution(&self) -> Duration {
        self.max_execution
    }

    /// How long a finished call is remembered.
    #[must_use]
    pub const fn time_to_live(&self) -> Duration {
        self.keep.as_duration()
    }
}

impl Default for Policy {
    /// The defaults of the settings table: guarantee `retryable`, a required key, a wait of five
    /// seconds, a day of memory.
    fn default() -> Self {
        PolicyBuilder::default().build().expect("the defaults are sound")
    }
}
