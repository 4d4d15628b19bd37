//! Building a policy, and what makes one unsound.

use std::time::Duration;

use semel_core::{Ttl, TtlError};

use super::{
    BindOperation, DetectExpired, Guarantee, InDoubtPolicy, InFlight, KeyStorage, MissingKey,
    OnException, Policy, Preset, RetryAfter, StoreDown,
};
use crate::client_key::KeyRule;

/// The longest wait or cap that makes sense; more is a mistake in units.
const LONGEST: Duration = Ttl::MAX.as_duration();

/// Gathers choices; [`PolicyBuilder::build`] checks them together.
#[derive(Debug, Clone)]
#[must_use = "call build()"]
pub struct PolicyBuilder {
    guarantee: Guarantee,
    key_rule: KeyRule,
    key_storage: KeyStorage,
    missing_key: MissingKey,
    bind_operation: BindOperation,
    detect_expired: DetectExpired,
    in_progress_time_to_live: Duration,
    time_to_live: Duration,
    max_execution: Duration,
    in_flight: InFlight,
    max_waiters_per_key: usize,
    retry_after: RetryAfter,
    on_exception: OnException,
    in_doubt: InDoubtPolicy,
    store_down: StoreDown,
}

impl Default for PolicyBuilder {
    fn default() -> Self {
        Self {
            guarantee: Guarantee::default(),
            key_rule: KeyRule::default(),
            key_storage: KeyStorage::default(),
            missing_key: MissingKey::default(),
            bind_operation: BindOperation::default(),
            detect_expired: DetectExpired::default(),
            in_progress_time_to_live: Duration::from_secs(60),
            time_to_live: Duration::from_secs(86_400),
            max_execution: Duration::from_secs(3_600),
            in_flight: InFlight::default(),
            max_waiters_per_key: 1_000,
            retry_after: RetryAfter::default(),
            on_exception: OnException::default(),
            in_doubt: InDoubtPolicy::default(),
            store_down: StoreDown::default(),
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty),+ $(,)?) => {
        $($(#[$doc])* pub fn $name(self, $name: $type) -> Self { Self { $name, ..self } })+
    };
}

impl PolicyBuilder {
    /// Sets the choices that `guarantee` bundles. Choices made after it win over it.
    pub fn guarantee(self, guarantee: Guarantee) -> Self {
        Self { guarantee, ..guarantee.apply(self) }
    }

    /// Sets the choices that `preset` bundles. Choices made after it win over it.
    ///
    /// A preset says how one talks, not what is promised: it does not weaken a guarantee that was
    /// named before it.
    pub fn preset(self, preset: Preset) -> Self {
        preset.apply(self)
    }

    /// What a preset says of exceptions: recorded, or freed unless a guarantee doubts them.
    pub(super) fn exceptions_recorded(self, recorded: bool) -> Self {
        let on_exception = match (recorded, self.on_exception) {
            (true, _) => OnException::Record,
            (false, OnException::Doubt) => OnException::Doubt,
            (false, OnException::Release | OnException::Record) => OnException::Release,
        };
        Self { on_exception, ..self }
    }

    setters! {
        /// What keys must look like. Default: 1 to 255 characters.
        key_rule: KeyRule,
        /// The form in which keys are stored. Default: plain.
        key_storage: KeyStorage,
        /// What to do with a call that brings no key. Default: refuse it.
        missing_key: MissingKey,
        /// Whether a key belongs to one operation. Default: yes, another is refused.
        bind_operation: BindOperation,
        /// Whether keys that say their own age may be too old. Default: off.
        detect_expired: DetectExpired,
        /// How long a running call holds its key unless it is renewed: the longest that a key is
        /// blocked after a crash. Default: 60 seconds. It must be positive and at most
        /// `time_to_live`.
        in_progress_time_to_live: Duration,
        /// How long a finished call is remembered, from when it finished. Default: 24 hours.
        time_to_live: Duration,
        /// How long a running call is renewed at most. Default: one hour. Work that takes longer
        /// is in doubt after it.
        max_execution: Duration,
        /// What to do when the first call still runs. Default: wait five seconds.
        in_flight: InFlight,
        /// How many may wait for one key in this process; more are answered at once.
        /// Default: 1000.
        max_waiters_per_key: usize,
        /// What `Retry-After` says. Default: at most five seconds.
        retry_after: RetryAfter,
        /// What to do when the work panics or raises an error. Default: free the key.
        on_exception: OnException,
        /// What to do with an unfinished call whose owner is gone. Default: take it over.
        in_doubt: InDoubtPolicy,
        /// What to do when the store can't be reached. Default: refuse.
        store_down: StoreDown,
    }

    /// Checks the choices together.
    ///
    /// # Errors
    ///
    /// [`PolicyError`], which names the setting, what it got and what it takes.
    pub fn build(self) -> Result<Policy, PolicyError> {
        let lease = ttl("in_progress_time_to_live_seconds", self.in_progress_time_to_live)?;
        let keep = ttl("time_to_live_seconds", self.time_to_live)?;
        if lease > keep {
            return Err(PolicyError::LeaseOverRetention {
                lease: self.in_progress_time_to_live,
                retention: self.time_to_live,
            });
        }
        ttl("max_execution_seconds", self.max_execution)?;
        if self.max_execution < self.in_progress_time_to_live {
            return Err(PolicyError::CapUnderLease {
                cap: self.max_execution,
                lease: self.in_progress_time_to_live,
            });
        }
        if let InFlight::Wait(wait) = self.in_flight {
            ttl("wait_seconds", wait)?;
        }
        if let RetryAfter::AtMost(after) = self.retry_after {
            ttl("retry_after_seconds", after)?;
        }
        if self.guarantee.needs_transaction() && self.store_down == StoreDown::Open {
            return Err(PolicyError::OpenWithoutTransaction);
        }
        Ok(self.unchecked(lease, keep))
    }

    fn unchecked(self, lease: Ttl, keep: Ttl) -> Policy {
        Policy {
            guarantee: self.guarantee,
            key_rule: self.key_rule,
            key_storage: self.key_storage,
            missing_key: self.missing_key,
            bind_operation: self.bind_operation,
            detect_expired: self.detect_expired,
            lease,
            keep,
            max_execution: self.max_execution,
            in_flight: self.in_flight,
            max_waiters_per_key: self.max_waiters_per_key,
            retry_after: self.retry_after,
            on_exception: self.on_exception,
            in_doubt: self.in_doubt,
            store_down: self.store_down,
        }
    }
}

impl From<&Policy> for PolicyBuilder {
    fn from(policy: &Policy) -> Self {
        Self {
            guarantee: policy.guarantee,
            key_rule: policy.key_rule.clone(),
            key_storage: policy.key_storage.clone(),
            missing_key: policy.missing_key,
            bind_operation: policy.bind_operation,
            detect_expired: policy.detect_expired,
            in_progress_time_to_live: policy.lease.as_duration(),
            time_to_live: policy.keep.as_duration(),
            max_execution: policy.max_execution,
            in_flight: policy.in_flight,
            max_waiters_per_key: policy.max_waiters_per_key,
            retry_after: policy.retry_after,
            on_exception: policy.on_exception,
            in_doubt: policy.in_doubt.clone(),
            store_down: policy.store_down,
        }
    }
}

fn ttl(setting: &'static str, got: Duration) -> Result<Ttl, PolicyError> {
    Ttl::positive(got).map_err(|error| match error {
        TtlError::Zero => PolicyError::NotPositive { setting },
        _ => PolicyError::TooLong { setting, got, limit: LONGEST },
    })
}

/// The default of a setting, in seconds.
fn default_of(setting: &str) -> u64 {
    let defaults = PolicyBuilder::default();
    let seconds = match setting {
        "in_progress_time_to_live_seconds" => defaults.in_progress_time_to_live,
        "time_to_live_seconds" => defaults.time_to_live,
        "max_execution_seconds" => defaults.max_execution,
        // What is waited for, and what one is told to wait.
        _ => Duration::from_secs(5),
    };
    seconds.as_secs()
}

/// Why choices make no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A duration of zero.
    #[error(
        "idempotency.{setting} = 0: it must be a positive number of seconds; the default is {}",
        default_of(setting)
    )]
    NotPositive {
        /// Which setting.
        setting: &'static str,
    },
    /// A duration beyond ten years.
    #[error(
        "idempotency.{setting} = {}: it must be at most {} (ten years)",
        got.as_secs_f64(), limit.as_secs()
    )]
    TooLong {
        /// Which setting.
        setting: &'static str,
        /// What it got.
        got: Duration,
        /// The most it takes.
        limit: Duration,
    },
    /// A lease longer than the retention: a running call would be forgotten.
    #[error(
        "idempotency.in_progress_time_to_live_seconds = {}: it must be at most \
         idempotency.time_to_live_seconds ({})",
        lease.as_secs_f64(), retention.as_secs_f64()
    )]
    LeaseOverRetention {
        /// The lease.
        lease: Duration,
        /// The retention.
        retention: Duration,
    },
    /// A cap on renewal that is shorter than one lease.
    #[error(
        "idempotency.max_execution_seconds = {}: it must be at least \
         idempotency.in_progress_time_to_live_seconds ({})",
        cap.as_secs_f64(), lease.as_secs_f64()
    )]
    CapUnderLease {
        /// The cap.
        cap: Duration,
        /// The lease.
        lease: Duration,
    },
    /// Work that needs the store's transaction can't run without the store.
    #[error(
        "idempotency.store_down = open: it must be closed where idempotency.guarantee is \
         transactional, for without the store there is no transaction to run in"
    )]
    OpenWithoutTransaction,
}
