//! Beginning a call: run it, replay it, wait for it, or refuse it.

use std::pin::pin;
use std::time::Duration;

use semel_core::protocol::{self, Begin, Seen};
use semel_core::{self as core, Refusal, StoreError, StoreErrorKind, StoreTime, Token, Version};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::begun::{Begun, Busy, Unprotected, busy, busy_for_unknown_time, refused_by, settled_as};
use super::call::Call;
use super::claim::Claim;
use super::engine::Once;
use super::unsure::Unsure;
use crate::drive::{Driven, drive, in_time, is_contention};
use crate::policy::{InFlight, StoreDown};
use crate::problem::{Problem, ProblemKind};
use crate::timer;
use crate::wait::Waited;

impl Once {
    /// Begins a call.
    ///
    /// One round trip to the store when the key is free, and one when the outcome is recorded.
    /// While the first call runs elsewhere it waits as the policy says. A store that gives no
    /// answer for five seconds counts as one that can't be reached.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits for another call, it leaves nothing behind. Dropped while its own
    /// claim is being written, the claim is given back in the background; at worst, if the store
    /// fails too, the key stays blocked until the lease ends.
    pub async fn begin(&self, call: &Call) -> Begun {
        let begun = if call.policy.guarantee.needs_transaction() {
            Box::pin(self.begin_in_transaction(call)).await
        } else {
            self.begin_or_wait(call).await
        };
        begun.count();
        tracing::debug!(
            key = %call.at.digest,
            operation = %call.operation,
            outcome = begun.word(),
            attempt = begun.attempt(),
            "begun"
        );
        begun
    }

    async fn begin_or_wait(&self, call: &Call) -> Begun {
        // Before anything is claimed: a claim that nobody can renew must not be made.
        let runtime = Handle::current();
        let began = timer::now();
        let mut asked = began;
        let ask = self.ask(call);
        let mut seen = Seen::presumed_free();
        loop {
            let unsure = Unsure::new(self, call, ask.claim.token, &runtime);
            let driven = match in_time(pin!(drive(&*self.0.store, &call.at, &ask, seen))).await {
                Ok(driven) => driven,
                Err(error) => return self.store_failed(call, unsure, &error),
            };
            let Driven { answer, version, now, .. } = driven;
            if let protocol::Begun::Fresh { attempt } = answer {
                let claim = core::Claim { attempt, ..ask.claim };
                return self.fresh(call, claim, version, unsure, asked);
            }
            unsure.settled();
            // What seldom comes to pass is boxed: it would make every call's future larger.
            match answer {
                protocol::Begun::InFlight { lease_left } => {
                    let (spent, left) = (timer::now() - began, lease_left.as_duration());
                    match Box::pin(self.wait(call, now, spent, left)).await {
                        Ok(there) => seen = there,
                        Err(Given::Busy(busy)) => return Begun::Busy(busy),
                        Err(Given::Failed(problem)) => return Begun::Refused(problem),
                    }
                }
                protocol::Begun::Reconcile(there) => {
                    match Box::pin(self.reconcile(call, there)).await {
                        Ok(there) => seen = there,
                        Err(problem) => return Begun::Refused(problem),
                    }
                }
                settled => return settled_as(settled, call),
            }
            asked = timer::now();
        }
    }

    pub(super) fn ask(&self, call: &Call) -> Begin {
        Begin {
            claim: core::Claim {
                operation: call.operation.clone(),
                fingerprint: call.fingerprint.clone(),
                token: Token::fresh(),
                attempt: 1,
                owner: self.0.owner.clone(),
            },
            in_doubt: call.policy.in_doubt.for_decision(),
            lease: call.policy.lease,
            keep: call.policy.keep,
        }
    }

    fn fresh(
        &self,
        call: &Call,
        claim: core::Claim,
        version: Option<Version>,
        unsure: Unsure<'_>,
        asked: Instant,
    ) -> Begun {
        if timer::now() - asked >= call.policy.lease.as_duration() {
            // The store took longer than the lease: another may hold the key by now.
            tracing::error!(key = %call.at.digest, "the store is slower than the lease is long");
            return Begun::Refused(ProblemKind::StoreUnavailable.into());
        }
        let fence = version.unwrap_or(Version::new(0));
        Begun::Fresh(Claim::new(self, call, claim, fence, (asked, unsure.settled())))
    }

    /// Waits for the call that was seen in flight at `since`, with what is left of the policy's
    /// budget, and gives what is there then.
    pub(super) async fn wait(
        &self,
        call: &Call,
        since: StoreTime,
        spent: Duration,
        lease_left: Duration,
    ) -> Result<Seen, Given> {
        let busy = |left| Err(Given::Busy(busy(&call.policy, left)));
        let InFlight::Wait(budget) = call.policy.in_flight else { return busy(lease_left) };
        let budget = budget.saturating_sub(spent);
        if budget.is_zero() {
            return busy(lease_left);
        }
        let most = call.policy.max_waiters_per_key;
        match self.0.waiters.until_over(&call.at, since, budget, most).await {
            Waited::Over(look) => match &look.seen {
                Ok(seen) => Ok(seen.clone()),
                Err(error) => Err(Given::Failed(refused_by(error))),
            },
            Waited::TimedOut(left) => busy(left.unwrap_or(lease_left)),
            Waited::TooMany => busy(lease_left),
        }
    }

    fn store_failed(&self, call: &Call, unsure: Unsure<'_>, error: &StoreError) -> Begun {
        if error.kind() != StoreErrorKind::Unknown {
            unsure.settled();
        }
        if is_contention(error) {
            // It answers, and somebody else is at this key all the time.
            return Begun::Busy(busy_for_unknown_time(&call.policy));
        }
        let down = matches!(
            error.kind(),
            StoreErrorKind::NotApplied
                | StoreErrorKind::Unknown
                | StoreErrorKind::Refused(Refusal::Credentials | Refusal::Unusable)
        );
        if down && call.policy.store_down == StoreDown::Open {
            tracing::warn!(key = %call.at.digest, %error, "the work runs unprotected");
            return Begun::Unprotected(Unprotected);
        }
        Begun::Refused(refused_by(error))
    }
}

/// What waiting gives instead of the call's end.
pub(super) enum Given {
    Busy(Busy),
    Failed(Problem),
}
