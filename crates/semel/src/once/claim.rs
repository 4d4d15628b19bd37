//! A claim: the right to do a call's work, and the duty to say how it ended.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use semel_core::{self as core, Key, Ttl, Version};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::call::Call;
use super::engine::Once;
use super::held::{Held, LossReason};
use super::in_transaction::InTransaction;
use crate::keeper::Place;
use crate::policy::Policy;
use crate::timer;

/// The right to do a call's work.
///
/// Its lease is renewed until it is finished or dropped. A claim that is dropped unfinished is
/// *not* freed: its work may have had an effect. Its lease runs out and the policy for doubt
/// decides. One in a transaction is taken back with everything that was written in it.
#[derive(Debug)]
#[must_use = "a claim that is dropped blocks its key until its lease ends"]
pub struct Claim {
    pub(super) once: Once,
    pub(super) policy: Arc<Policy>,
    pub(super) held: Arc<Held>,
    pub(super) place: Option<Place>,
    /// What it was made in, where the guarantee is transactional, until it ends.
    pub(super) transaction: Option<Box<InTransaction>>,
}

impl Claim {
    pub(super) fn new(
        once: &Once,
        call: &Call,
        claim: core::Claim,
        fence: Version,
        (asked, runtime): (Instant, &Handle),
    ) -> Self {
        let policy = Arc::clone(&call.policy);
        let lease = (policy.lease, policy.max_execution);
        let held = Arc::new(Held::new(call.at.clone(), claim, fence, lease, policy.keep, asked));
        let place = Some(once.0.keeper.enter(&held, runtime));
        Self { once: once.clone(), policy, held, place, transaction: None }
    }

    /// What the work itself is given: it can look, but not finish.
    #[must_use]
    pub fn permit(&self) -> Permit {
        Permit(Arc::clone(&self.held))
    }

    /// How the call is treated.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Renews it no more.
    pub(super) fn leave_keeper(&mut self) {
        if let Some(place) = self.place.take() {
            self.once.0.keeper.leave(place, &self.held);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.leave_keeper();
    }
}

/// What the work of a claimed call may know: its fence, its keys for calls further down, and
/// whether the claim was lost meanwhile. A clone is a second handle to the same claim.
#[derive(Debug, Clone)]
pub struct Permit(Arc<Held>);

impl Permit {
    /// The permit of work that runs without a claim, because the store is down and the policy says
    /// to go on: see [`Begun::Unprotected`](crate::Begun::Unprotected). It is never lost, and its
    /// fence is 0.
    #[must_use]
    pub fn unprotected(call: &Call) -> Self {
        let claim = core::Claim {
            operation: call.operation.clone(),
            fingerprint: None,
            token: core::Token::fresh(),
            attempt: 1,
            owner: None,
        };
        let lease = (Ttl::MAX, Ttl::MAX.as_duration());
        let at = call.at.clone();
        let fence = Version::new(0);
        Self(Arc::new(Held::new(at, claim, fence, lease, Ttl::ZERO, timer::now())))
    }

    /// A number that is higher for each later owner of the same key: hand it down, and let what
    /// is called refuse a smaller one than it has seen. 0 when the work runs unprotected.
    #[must_use]
    pub fn fence(&self) -> Version {
        self.0.fence
    }

    /// 1 for the first owner, one more for each that took over.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.claim.attempt
    }

    /// The key in the store.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.0.at.key
    }

    /// A key for a call further down: the same on every attempt of this call, another for every
    /// `purpose`, 32 hex digits that don't show the client's key.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> String {
        let mut hasher = core::PartHasher::new();
        hasher.field(self.0.at.key.as_str().as_bytes());
        hasher.field(self.0.claim.operation.as_str().as_bytes());
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
        self.0.remaining()
    }

    /// Ends when the claim is lost, without any help of the store: from then on another may run
    /// the same work. Never ends while the lease is renewed, nor once the call has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind; asked again, it gives the same answer.
    pub async fn lost(&self) -> LossReason {
        self.0.until_lost().await
    }
}
