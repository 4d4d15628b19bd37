//! Beginning a call: run it, replay it, wait for it, or refuse it.

use std::sync::Arc;
use std::time::Duration;

use semel_core::protocol::{self, Begin, Resolution, Resolve, Resolved, Seen, SeenRecord};
use semel_core::{
    self as core, Fingerprint, Operation, Outcome, Refusal, Scope, StoreError, StoreErrorKind,
    Token, Version,
};

use super::claim::Claim;
use super::engine::Once;
use super::finish::give_back;
use crate::client_key::UnixMillis;
use crate::drive::{Address, drive, look};
use crate::policy::{
    BindOperation, DetectExpired, Doubtful, InDoubtPolicy, InFlight, Policy, Reconciled,
    RetryAfter, StoreDown,
};
use crate::problem::{Problem, ProblemKind};
use crate::timer;
use crate::wait::Waited;

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
        let checked = policy
            .key_rule
            .check(client_key)
            .map_err(|rejected| ProblemKind::KeyInvalid { fault: (&rejected).into() })?;
        if policy.detect_expired == DetectExpired::On
            && let Some(born) = checked.born()
        {
            refuse_expired(born, policy)?;
        }
        let own = (policy.bind_operation == BindOperation::Separate).then(|| operation.as_str());
        let key = policy
            .key_storage
            .key(scope, checked.as_str(), own)
            .map_err(|error| ProblemKind::KeyInvalid { fault: (&error).into() })?;
        Ok(Self { at: Address::of(key), operation, fingerprint: None, policy: Arc::clone(policy) })
    }

    /// The same call with what it was called with, so that another request under its key is told
    /// apart from a repeat.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: Fingerprint) -> Self {
        Self { fingerprint: Some(fingerprint), ..self }
    }

    /// The key in the store.
    #[must_use]
    pub const fn key(&self) -> &core::Key {
        &self.at.key
    }

    /// What it does.
    #[must_use]
    pub const fn operation(&self) -> &Operation {
        &self.operation
    }

    /// How it is treated.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }
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

/// What a call that began comes to.
#[derive(Debug)]
#[must_use = "a claim that is dropped blocks its key until its lease ends"]
pub enum Begun {
    /// The work may run, under this claim.
    Fresh(Claim),
    /// The work ran: this came of it.
    Replay(Replay),
    /// The work runs elsewhere, and waiting was not wanted or took too long.
    Busy(Busy),
    /// The work must not run.
    Refused(Problem),
    /// The store can't be reached, and the policy says to run the work all the same.
    Unprotected(Unprotected),
}

/// A recorded outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Replay {
    /// What was recorded.
    pub outcome: Outcome,
}

/// A call that is in flight elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Busy {
    /// When to try again; none where the policy leaves that out.
    pub retry_after: Option<Duration>,
}

impl From<Busy> for Problem {
    fn from(busy: Busy) -> Self {
        ProblemKind::InProgress { retry_after: busy.retry_after }.into()
    }
}

/// The word for a call that runs without protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unprotected;

impl Once {
    /// Begins a call.
    ///
    /// One round trip to the store when the key is free, and one when the outcome is recorded.
    /// While the first call runs elsewhere it waits as the policy says.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits for another call, it leaves nothing behind. Dropped while its own
    /// claim is being written, the key may stay blocked until the lease ends: run it in a task of
    /// its own where that matters, as the doors do.
    pub async fn begin(&self, call: &Call) -> Begun {
        let begun = self.begin_or_wait(call).await;
        let outcome = match &begun {
            Begun::Fresh(_) => "fresh",
            Begun::Replay(_) => "replay",
            Begun::Busy(_) => "busy",
            Begun::Refused(_) => "refused",
            Begun::Unprotected(_) => "unprotected",
        };
        metrics::counter!("semel_calls_total", "outcome" => outcome).increment(1);
        begun
    }

    async fn begin_or_wait(&self, call: &Call) -> Begun {
        let began = timer::now();
        let ask = self.ask(call);
        let mut seen = Seen::presumed_free();
        loop {
            let asked = timer::now();
            let driven = match drive(&*self.0.store, &call.at, &ask, seen).await {
                Ok(driven) => driven,
                Err(error) => return self.store_failed(call, &ask.claim, &error),
            };
            match driven.answer {
                protocol::Begun::Fresh { attempt } => {
                    let claim = core::Claim { attempt, ..ask.claim };
                    let fence = driven.version.unwrap_or(Version::new(0));
                    return Begun::Fresh(Claim::new(self, call, claim, fence, asked));
                }
                protocol::Begun::InFlight { lease_left } => {
                    let waited = self.wait(call, timer::now() - began).await;
                    match waited {
                        Some(Ok(there)) => seen = there,
                        Some(Err(problem)) => return Begun::Refused(problem),
                        None => return Begun::Busy(busy(&call.policy, lease_left.as_duration())),
                    }
                }
                protocol::Begun::Reconcile(there) => match self.reconcile(call, there).await {
                    Ok(there) => seen = there,
                    Err(problem) => return Begun::Refused(problem),
                },
                settled => return settled_as(settled, call),
            }
        }
    }

    fn ask(&self, call: &Call) -> Begin {
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

    /// Waits for the call in flight, with what is left of the policy's budget: what is there then,
    /// or none when the time is up.
    pub(super) async fn wait(&self, call: &Call, spent: Duration) -> Option<Result<Seen, Problem>> {
        let InFlight::Wait(budget) = call.policy.in_flight else { return None };
        let left = budget.checked_sub(spent).filter(|left| !left.is_zero())?;
        let most = call.policy.max_waiters_per_key;
        match self.0.waiters.until_over(&call.at, left, most).await {
            Waited::Over(seen) => Some(match &*seen {
                Ok(seen) => Ok(seen.clone()),
                Err(error) => Err(refused_by(error)),
            }),
            Waited::TimedOut | Waited::TooMany => None,
        }
    }

    /// Asks the application about a call in doubt, and settles it if it knows.
    async fn reconcile(&self, call: &Call, there: SeenRecord) -> Result<Seen, Problem> {
        let since = there.last_written();
        let unknown = || Problem::from(ProblemKind::InDoubt { since });
        let InDoubtPolicy::Reconcile(hook) = &call.policy.in_doubt else { return Err(unknown()) };
        let doubtful = Doubtful {
            key: call.at.key.clone(),
            operation: there.record.claim.operation.clone(),
            attempt: there.record.claim.attempt,
            owner: there.record.claim.owner.clone(),
            since,
        };
        let resolution = match hook.reconcile(&doubtful).await {
            Reconciled::Done(outcome) => Resolution::Done { outcome, keep: call.policy.keep },
            Reconciled::NoEffect => Resolution::Free,
            Reconciled::Unknown => return Err(unknown()),
        };
        let ask = Resolve { version: there.version, token: Token::fresh(), resolution };
        let seen = Seen { now: since, record: Some(there) };
        match drive(&*self.0.store, &call.at, &ask, seen).await.map(|driven| driven.answer) {
            // Whether it was settled by us or by another, what is there now decides.
            Ok(
                Resolved::Settled
                | Resolved::Changed
                | Resolved::AlreadyDone
                | Resolved::StillHeld { .. },
            ) => look(&*self.0.store, &call.at).await.map_err(|error| refused_by(&error)),
            Err(error) => Err(refused_by(&error)),
        }
    }

    fn store_failed(&self, call: &Call, claim: &core::Claim, error: &StoreError) -> Begun {
        if error.kind() == StoreErrorKind::Unknown {
            // The claim may have been made, and nobody would work on it.
            self.0.tasks.spawn(give_back(
                Arc::clone(&self.0.store),
                call.at.clone(),
                claim.token,
                call.policy.lease.as_duration(),
            ));
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

/// The answers that end a beginning.
fn settled_as(answer: protocol::Begun, call: &Call) -> Begun {
    let kind = match answer {
        protocol::Begun::Replay(outcome) => return Begun::Replay(Replay { outcome }),
        protocol::Begun::KeyReused { recorded } => {
            ProblemKind::KeyReused { operation: call.operation.clone(), recorded }
        }
        protocol::Begun::Mismatch { differs } => ProblemKind::PayloadMismatch {
            differs: differs.iter().map(|part| part.as_str().into()).collect(),
        },
        protocol::Begun::InDoubt { since } => ProblemKind::InDoubt { since },
        protocol::Begun::InFlight { lease_left } => {
            return Begun::Busy(busy(&call.policy, lease_left.as_duration()));
        }
        protocol::Begun::Reconcile(there) => ProblemKind::InDoubt { since: there.last_written() },
        protocol::Begun::Fresh { .. } => unreachable!("a fresh claim is handled by the caller"),
    };
    Begun::Refused(kind.into())
}

/// A failed store, as the caller is told of it. The cause goes to the log, not to the caller.
pub(super) fn refused_by(error: &StoreError) -> Problem {
    let kind = match error.kind() {
        StoreErrorKind::Refused(Refusal::Full | Refusal::TooLarge) => {
            tracing::error!(%error, "the store is full");
            ProblemKind::StoreFull
        }
        StoreErrorKind::Damaged => {
            // There is a record and it can't be read: somebody has to look at it.
            metrics::counter!("semel_records_damaged_total").increment(1);
            tracing::error!(error = error as &dyn std::error::Error, "a record is damaged");
            ProblemKind::StoreUnavailable
        }
        _ => {
            tracing::error!(error = error as &dyn std::error::Error, "the store failed");
            ProblemKind::StoreUnavailable
        }
    };
    kind.into()
}

/// What is left of the running call's lease is the longest that trying again can be in vain.
pub(super) fn busy(policy: &Policy, lease_left: Duration) -> Busy {
    let retry_after = match policy.retry_after {
        RetryAfter::Off => None,
        RetryAfter::AtMost(most) => {
            let seconds = most.min(lease_left).as_millis().div_ceil(1_000).max(1);
            Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX)))
        }
    };
    Busy { retry_after }
}
