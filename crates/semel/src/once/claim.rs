//! A claim: the right to do a call's work, and the duty to say how it ended.

use std::sync::Arc;

use semel_core::{self as core, Version};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::call::Call;
use super::engine::Once;
use super::held::Held;
use super::in_transaction::InTransaction;
use super::permit::Permit;
use crate::keeper::Place;
use crate::policy::Policy;

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
        Permit::claimed(&self.held)
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
