//! What the work of a call may know of it.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use semel_core::{self as core, Key, Operation, Scope, Token, Ttl, Version};

use super::call::Call;
use super::held::{Held, LossReason};
use crate::drive::Address;
use crate::timer;

/// What the work of a call may know: what protects it, its fence, its keys for calls further down,
/// and whether its claim was lost meanwhile. A clone is a second handle to the same claim.
#[derive(Debug, Clone)]
pub struct Permit {
    held: Arc<Held>,
    protection: Protection,
}

/// Whether work is protected against running twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protection {
    /// It runs under a claim: a repeat gets its answer.
    Claimed,
    /// The store can't be reached and the policy says to go on
    /// ([`StoreDown::Open`](crate::StoreDown::Open)): nothing is recorded, and a repeat may run.
    StoreDown,
    /// It has no key and the policy lets it through
    /// ([`MissingKey::Optional`](crate::MissingKey::Optional)): nothing is recorded, and there is
    /// nothing that a repeat could be recognised by.
    NoKey,
}

impl Permit {
    pub(super) fn claimed(held: &Arc<Held>) -> Self {
        Self { held: Arc::clone(held), protection: Protection::Claimed }
    }

    /// The permit of work that runs without a claim, because the store is down and the policy says
    /// to go on: see [`Begun::Unprotected`](crate::Begun::Unprotected). It is never lost, its fence
    /// is 0, and its derived keys are those that it would have under a claim.
    #[must_use]
    pub fn unprotected(call: &Call) -> Self {
        Self::unclaimed(call.at.clone(), &call.operation, Protection::StoreDown)
    }

    /// The permit of work that has no key. It is never lost, its fence is 0, and its derived keys
    /// are its own: no other call gets the same ones.
    #[must_use]
    pub fn without_key(operation: &Operation) -> Self {
        // Never stored. What the work calls must not take two such calls for one, as it would if
        // their derived keys came from the same nothing.
        let own = Token::fresh().to_hex();
        let key = Key::idempotency(&Scope::anonymous(), &own).expect("hex digits make a key");
        Self::unclaimed(Address::of(key), operation, Protection::NoKey)
    }

    fn unclaimed(at: Address, operation: &Operation, protection: Protection) -> Self {
        let claim = core::Claim {
            operation: operation.clone(),
            fingerprint: None,
            token: Token::fresh(),
            attempt: 1,
            owner: None,
        };
        let lease = (Ttl::MAX, Ttl::MAX.as_duration());
        let held = Held::new(at, claim, Version::new(0), lease, Ttl::ZERO, timer::now());
        Self { held: Arc::new(held), protection }
    }

    /// What protects the work against running twice.
    #[must_use]
    pub const fn protection(&self) -> Protection {
        self.protection
    }

    /// A number that is higher for each later owner of the same key: hand it down, and let what
    /// is called refuse a smaller one than it has seen. 0 when the work runs unprotected.
    #[must_use]
    pub fn fence(&self) -> Version {
        self.held.fence
    }

    /// 1 for the first owner, one more for each that took over.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.held.claim.attempt
    }

    /// The key in the store. For work without a key, one that is in no store.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.held.at.key
    }

    /// A key for a call further down: the same on every attempt of this call, another for every
    /// `purpose`, 32 hex digits that don't show the client's key. For work without a key it is
    /// another each time: a retry of such work is a new call, further down too.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> String {
        let mut hasher = core::PartHasher::new();
        hasher.field(self.held.at.key.as_str().as_bytes());
        hasher.field(self.held.claim.operation.as_str().as_bytes());
        hasher.field(purpose.as_bytes());
        hasher.finish().as_bytes().iter().fold(String::with_capacity(32), |mut hex, byte| {
            // Writing into a String can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// What is left of the claim by this process's own clock: zero when it is lost. It is shorter
    /// than what the store would say, never longer.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.held.remaining()
    }

    /// Ends when the claim is lost, without any help of the store: from then on another may run
    /// the same work. Never ends while the lease is renewed, nor once the call has ended.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, if it is not lost yet.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind; asked again, it gives the same answer.
    pub async fn lost(&self) -> LossReason {
        self.held.until_lost().await
    }
}
