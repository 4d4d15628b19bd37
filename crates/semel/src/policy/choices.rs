//! The single choices. Each says what it trades.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretBox};
use semel_core::{Key, KeyError, Scope, protocol};

use super::reconcile::Reconcile;

/// What to do with a call that brings no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MissingKey {
    /// Refuse it (`CACHING_VALIDATION_002`). Default: a client that forgot the key finds out at
    /// once, not at the first lost reply.
    #[default]
    Require,
    /// Let it through unprotected.
    Optional,
}

/// Whether a key belongs to one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BindOperation {
    /// The same key on another operation is refused (`CACHING_CONFLICT_003`). Default.
    #[default]
    Reject,
    /// Each operation has its own keys: the operation becomes part of the stored key.
    Separate,
}

/// Whether keys that say their own age are refused once they are older than the retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DetectExpired {
    /// No. A retry that comes after the retention runs again. Default.
    #[default]
    Off,
    /// UUIDv7 and ULID keys older than the retention are refused (`CACHING_VALIDATION_004`).
    /// Trades on the client's clock, by as much as that is off.
    On,
}

/// What to do when the first call still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    /// Answer at once that it does (`CACHING_CONFLICT_002`).
    Reject,
    /// Wait this long for its answer first. Default: five seconds.
    Wait(Duration),
}

impl Default for InFlight {
    fn default() -> Self {
        Self::Wait(Duration::from_secs(5))
    }
}

/// What `Retry-After` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// Nothing: no header.
    Off,
    /// This long, or what is left of the running call's lease where that is less; in whole
    /// seconds, rounded up. Default: five seconds.
    AtMost(Duration),
}

impl Default for RetryAfter {
    fn default() -> Self {
        Self::AtMost(Duration::from_secs(5))
    }
}

/// What to do when the work panics, or raises an error instead of returning one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnException {
    /// Free the key: a retry runs. Right where failed work leaves nothing behind. Default.
    #[default]
    Release,
    /// Record the failure as the answer and replay it.
    Record,
    /// Call the outcome unknown and leave it to the policy for that.
    Doubt,
}

/// What to do with an unfinished call whose owner is gone.
#[derive(Debug, Clone, Default)]
pub enum InDoubtPolicy {
    /// The next caller takes over once the lease has ended. Default.
    #[default]
    Rerun,
    /// Refuse (`CACHING_CONFLICT_004`) until somebody resolves it or it is forgotten.
    Reject,
    /// Ask the application.
    Reconcile(Arc<dyn Reconcile>),
}

impl InDoubtPolicy {
    pub(crate) const fn for_decision(&self) -> protocol::InDoubt {
        match self {
            Self::Rerun => protocol::InDoubt::Rerun,
            Self::Reject => protocol::InDoubt::Reject,
            Self::Reconcile(_) => protocol::InDoubt::Reconcile,
        }
    }
}

/// What to do when the store can't be reached as a call begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StoreDown {
    /// Refuse (`CACHING_UNAVAILABLE_001`); the work does not run. Default.
    #[default]
    Closed,
    /// Run the work unprotected, and say so in the answer. Trades duplicates for availability.
    Open,
}

/// The form in which a client's key becomes a store's key.
#[derive(Clone, Default)]
pub enum KeyStorage {
    /// Readable: `idem:<tenant>:<subject>:<key>`. Default.
    #[default]
    Plain,
    /// A keyed digest: neither the store nor a log holds the client's key. Whoever knows the
    /// secret can still check a guess. A changed secret makes every key a new one.
    Digest(Arc<SecretBox<[u8; 32]>>),
}

impl KeyStorage {
    /// A keyed digest under this secret.
    #[must_use]
    pub fn digest(secret: [u8; 32]) -> Self {
        Self::Digest(Arc::new(SecretBox::new(Box::new(secret))))
    }

    pub(crate) fn key(
        &self,
        scope: &Scope,
        client_key: &str,
        operation: Option<&str>,
    ) -> Result<Key, KeyError> {
        match (self, operation) {
            (Self::Plain, None) => Key::idempotency(scope, client_key),
            (Self::Plain, Some(operation)) => {
                Key::idempotency_of_operation(scope, client_key, operation)
            }
            (Self::Digest(secret), operation) => {
                Key::idempotency_digest(secret.expose_secret(), scope, client_key, operation)
            }
        }
    }

    /// The key of a message that a consumer handles: readable where that is not too long for a
    /// key, or for the one beside it under which attempts are counted.
    pub(crate) fn message_keys(
        &self,
        consumer: &str,
        source: &str,
        id: &str,
    ) -> Result<(Key, Key), KeyError> {
        let with_attempts = |key: Key| Key::attempts(&key).map(|attempts| (key, attempts));
        if let Self::Digest(secret) = self {
            let secret = Some(secret.expose_secret());
            return with_attempts(Key::message_digest(secret, consumer, source, id)?);
        }
        match Key::message(consumer, source, id).and_then(with_attempts) {
            Err(KeyError::TooLong { .. }) => {
                with_attempts(Key::message_digest(None, consumer, source, id)?)
            }
            readable => readable,
        }
    }
}

impl fmt::Debug for KeyStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Digest(_) => "Digest(…)",
        })
    }
}
