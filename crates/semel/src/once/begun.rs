//! What a call that began comes to.

use std::time::Duration;

use semel_core::protocol;
use semel_core::{Outcome, Refusal, StoreError, StoreErrorKind};

use super::call::Call;
use super::claim::Claim;
use crate::policy::{Policy, RetryAfter};
use crate::problem::{Problem, ProblemKind};

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
    /// What is left of its lease, where that is known. If its owner is gone, the key can be had
    /// after that; an owner at work renews it.
    pub lease_left: Option<Duration>,
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

impl Begun {
    /// The word for it in logs and metrics.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Fresh(_) => "fresh",
            Self::Replay(_) => "replay",
            Self::Busy(_) => "busy",
            Self::Refused(_) => "refused",
            Self::Unprotected(_) => "unprotected",
        }
    }

    /// Which attempt it is, for logs: 0 where it is none.
    pub(super) fn attempt(&self) -> u32 {
        if let Self::Fresh(claim) = self { claim.held.claim.attempt } else { 0 }
    }

    /// Counts it. The labels are written out: then they cost nothing where nobody counts.
    pub(super) fn count(&self) {
        match self {
            Self::Fresh(_) => metrics::counter!("semel_calls_total", "outcome" => "fresh"),
            Self::Replay(_) => metrics::counter!("semel_calls_total", "outcome" => "replay"),
            Self::Busy(_) => metrics::counter!("semel_calls_total", "outcome" => "busy"),
            Self::Refused(_) => metrics::counter!("semel_calls_total", "outcome" => "refused"),
            Self::Unprotected(_) => {
                metrics::counter!("semel_calls_total", "outcome" => "unprotected")
            }
        }
        .increment(1);
    }
}

/// The answers that end a beginning.
pub(super) fn settled_as(answer: protocol::Begun, call: &Call) -> Begun {
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
pub(crate) fn refused_by(error: &StoreError) -> Problem {
    let cause = error as &dyn std::error::Error;
    let kind = match error.kind() {
        StoreErrorKind::Refused(Refusal::Full | Refusal::TooLarge) => {
            tracing::error!(error = cause, "the store is full");
            ProblemKind::StoreFull
        }
        StoreErrorKind::Damaged => {
            // There is a record and it can't be read: somebody has to look at it.
            metrics::counter!("semel_records_damaged_total").increment(1);
            tracing::error!(error = cause, "a record is damaged");
            ProblemKind::StoreUnavailable
        }
        _ => {
            tracing::error!(error = cause, "the store failed");
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
    Busy { retry_after, lease_left: Some(lease_left) }
}

/// The same where nobody knows how long the running call has its key.
pub(super) fn busy_for_unknown_time(policy: &Policy) -> Busy {
    Busy { lease_left: None, ..busy(policy, policy.lease.as_duration()) }
}
