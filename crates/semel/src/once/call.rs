//! A call: under which key, what it does, what it was called with, how it is treated.

use std::sync::Arc;

use semel_core::{Fingerprint, Key, Operation, Scope};

use crate::client_key::{KeyRejected, UnixMillis};
use crate::drive::Address;
use crate::policy::{BindOperation, DetectExpired, Policy};
use crate::problem::{Problem, ProblemKind};
use crate::timer;

/// A call that wants to run once: under which key, what it does, what it was called with.
#[derive(Debug, Clone)]
pub struct Call {
    pub(super) at: Address,
    pub(super) operation: Operation,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) policy: Arc<Policy>,
}

impl Call {
    /// A call under the key that a client sent, in the client's scope.
    ///
    /// # Errors
    ///
    /// A [`Problem`]: the key breaks the policy's rule, is too long with its scope, or says that
    /// it is older than the retention.
    pub fn new(
        policy: &Arc<Policy>,
        scope: &Scope,
        client_key: &str,
        operation: Operation,
    ) -> Result<Self, Problem> {
        policy.key_rule.admit(client_key).map_err(|rejected| invalid(&rejected))?;
        if policy.detect_expired == DetectExpired::On {
            let key = policy.key_rule.check(client_key).map_err(|rejected| invalid(&rejected))?;
            key.born().map_or(Ok(()), |born| refuse_expired(born, policy))?;
        }
        let separate = policy.bind_operation == BindOperation::Separate && !operation.is_unnamed();
        let own = separate.then(|| operation.as_str());
        let key = policy
            .key_storage
            .key(scope, client_key, own)
            .map_err(|error| ProblemKind::KeyInvalid { fault: (&error).into() })?;
        Ok(Self { at: Address::of(key), operation, fingerprint: None, policy: Arc::clone(policy) })
    }

    /// A call under a key that no client chose.
    pub(crate) fn under(policy: &Arc<Policy>, key: Key, operation: Operation) -> Self {
        Self { at: Address::of(key), operation, fingerprint: None, policy: Arc::clone(policy) }
    }

    /// The same call with what it was called with, so that another request under its key is told
    /// apart from a repeat. A call without is taken for a repeat whatever it was called with.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: Fingerprint) -> Self {
        Self { fingerprint: Some(fingerprint), ..self }
    }

    /// The key in the store.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.at.key
    }

    /// What it does.
    #[must_use]
    pub const fn operation(&self) -> &Operation {
        &self.operation
    }

    /// What it was called with, where that is compared.
    #[must_use]
    pub const fn fingerprint(&self) -> Option<&Fingerprint> {
        self.fingerprint.as_ref()
    }

    /// How it is treated.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }
}

fn invalid(rejected: &KeyRejected) -> Problem {
    ProblemKind::KeyInvalid { fault: rejected.into() }.into()
}

fn refuse_expired(born: UnixMillis, policy: &Policy) -> Result<(), Problem> {
    let millis = u64::try_from(timer::unix_time().as_millis()).unwrap_or(u64::MAX);
    let now = UnixMillis::new(millis);
    let limit = policy.time_to_live();
    if born.is_older_than(limit, now) {
        return Err(ProblemKind::KeyExpired { age: born.age(now), limit }.into());
    }
    Ok(())
}
