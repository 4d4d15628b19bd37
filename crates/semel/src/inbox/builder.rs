//! Setting an inbox up.

use std::sync::Arc;
use std::time::Duration;

use semel_core::{Operation, Ttl};

use super::attempts::AttemptLimit;
use super::consumer::Consumer;
use super::door::Inbox;
use super::error::InboxSettingError;
use super::settings::Settings;
use crate::once::Once;
use crate::policy::{InFlight, Policy};

impl Inbox {
    /// The inbox of a consumer, with the engine's policy.
    ///
    /// # Errors
    ///
    /// [`InboxSettingError::NoTransactions`].
    pub fn new(once: Once, consumer: Consumer) -> Result<Self, InboxSettingError> {
        Self::builder(once, consumer).build()
    }

    /// The inbox of a consumer, to be set up.
    pub fn builder(once: Once, consumer: Consumer) -> InboxBuilder {
        InboxBuilder::new(once, consumer)
    }
}

/// Sets up an inbox.
#[derive(Debug)]
#[must_use = "call build()"]
pub struct InboxBuilder {
    once: Once,
    consumer: Consumer,
    policy: Arc<Policy>,
    attempt_limit: AttemptLimit,
    attempts_time_to_live: Option<Duration>,
    in_flight: InFlight,
    put_off: Duration,
}

impl InboxBuilder {
    pub(super) fn new(once: Once, consumer: Consumer) -> Self {
        Self {
            policy: once.default_policy(),
            once,
            consumer,
            attempt_limit: AttemptLimit::default(),
            attempts_time_to_live: None,
            in_flight: InFlight::Reject,
            put_off: Duration::from_secs(5),
        }
    }

    /// How messages are treated. Default: as the engine's policy says.
    ///
    /// What counts of it: the guarantee and the choices that it bundles, the lease, the cap on
    /// renewal, the form of keys in the store, what happens when the store is down, and
    /// `time_to_live`: a repeat that comes later than that after the message was handled is handled
    /// again, so it must be longer than any broker, sender or dead-letter queue holds a copy. What
    /// it says of clients' keys and of waiting does not count: see [`InboxBuilder::in_flight`].
    pub fn policy(self, policy: Arc<Policy>) -> Self {
        Self { policy, ..self }
    }

    /// How often a message may be tried before it is [poison](super::Delivery::Poison). Default:
    /// at most five times.
    pub fn attempt_limit(self, attempt_limit: AttemptLimit) -> Self {
        Self { attempt_limit, ..self }
    }

    /// How long failed attempts are remembered, from the last one. Default: the policy's
    /// `time_to_live`. It must be longer than the pause between two deliveries.
    pub fn attempts_time_to_live(self, attempts_time_to_live: Duration) -> Self {
        Self { attempts_time_to_live: Some(attempts_time_to_live), ..self }
    }

    /// What to do with a message whose work is being done elsewhere. Default: put it off at once. A
    /// consumer that waits holds a place of its prefetch meanwhile, and saves a trip to the broker
    /// where work is short.
    pub fn in_flight(self, in_flight: InFlight) -> Self {
        Self { in_flight, ..self }
    }

    /// How long a message is put off where nobody knows how long its work takes: where another
    /// transaction has it. Default: five seconds.
    pub fn put_off(self, put_off: Duration) -> Self {
        Self { put_off, ..self }
    }

    /// The inbox.
    ///
    /// # Errors
    ///
    /// [`InboxSettingError`], which says what makes no sense.
    pub fn build(self) -> Result<Inbox, InboxSettingError> {
        if self.attempt_limit == AttemptLimit::AtMost(0) {
            return Err(InboxSettingError::NoAttempts);
        }
        if !self.once.supports(self.policy.guarantee()) {
            return Err(InboxSettingError::NoTransactions);
        }
        let keep = self.attempts_time_to_live.unwrap_or(self.policy.time_to_live());
        let attempts_keep =
            Ttl::positive(keep).map_err(|_| InboxSettingError::AttemptsTimeToLive)?;
        let policy = self.policy.to_builder().in_flight(self.in_flight).build()?;
        Ok(Inbox(Arc::new(Settings {
            once: self.once,
            operation: Operation::new(self.consumer.as_str())
                .expect("a consumer's name is short enough"),
            consumer: self.consumer,
            policy: Arc::new(policy),
            attempt_limit: self.attempt_limit,
            attempts_keep,
            put_off: self.put_off,
        })))
    }
}
