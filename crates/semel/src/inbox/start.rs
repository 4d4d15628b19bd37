//! From a delivery to the right to do its work.

use std::time::Duration;

use semel_core::StoreError;

use super::attempts::{AttemptLimit, Count, Counter};
use super::delivery::Delivery;
use super::door::Inbox;
use super::envelope::Redelivery;
use super::error::InboxError;
use crate::once::{Begun, Busy, Call, Claim, GivenUp, refused_by};
use crate::policy::{InFlight, StoreDown};
use crate::problem::{Problem, ProblemKind};

/// What a delivery comes to before any work.
pub(super) enum Started<E> {
    /// The work may run.
    Fresh(Claim, Tally),
    /// The same without a claim: the store is down.
    Unprotected,
    Settled(Delivery<E>),
}

/// How often a message was tried: what the store counts, and what it does not count yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    /// As it is in the store.
    pub(super) count: Count,
    /// All attempts before this one: those that are counted, and those that the record itself
    /// tells of, whose owners have died.
    pub(super) before: u32,
}

/// Whether attempts are counted at all, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    Off,
    /// When they have failed. Those whose owner dies leave a record, which counts them.
    Afterwards,
    /// When they begin: in a transaction an owner that dies leaves nothing.
    Before,
}

impl Counting {
    fn of(inbox: &Inbox) -> Self {
        match (inbox.0.attempt_limit, inbox.0.policy.guarantee().needs_transaction()) {
            (AttemptLimit::Unlimited, _) => Self::Off,
            (AttemptLimit::AtMost(_), true) => Self::Before,
            (AttemptLimit::AtMost(_), false) => Self::Afterwards,
        }
    }
}

/// A delivery that is being started.
struct Start<'a> {
    inbox: &'a Inbox,
    counter: &'a Counter,
}

pub(super) async fn start<E>(
    inbox: &Inbox,
    call: &Call,
    counter: &Counter,
    redelivery: Redelivery,
) -> Result<Started<E>, InboxError<E>> {
    let start = Start { inbox, counter };
    let counting = match redelivery {
        Redelivery::Possible => Counting::of(inbox),
        Redelivery::No => Counting::Off,
    };
    if inbox.0.policy.in_flight() == InFlight::Reject && inbox.0.once.is_in_transaction(call) {
        // Before anything is counted: a store of one file would be waited for.
        return Ok(Started::Settled(Delivery::Later(inbox.0.put_off)));
    }
    let (count, before) = match start.counted(counting).await {
        Ok(counted) => counted,
        // Where work runs without the store, it is not kept from that by a count.
        Err(_) if inbox.0.policy.store_down() == StoreDown::Open => Default::default(),
        Err(error) => return Err(unavailable(&error)),
    };
    match inbox.0.once.begin(call).await {
        Begun::Fresh(claim) => {
            let before = before.saturating_add(claim.permit().attempt().saturating_sub(1));
            start.fresh(claim, Tally { count, before }).await
        }
        Begun::Unprotected(_) => Ok(Started::Unprotected),
        other => {
            start.take_back(count, before).await;
            settled(inbox, other)
        }
    }
}

impl Start<'_> {
    /// The count as it is now, and how many of it were before this attempt.
    async fn counted(&self, counting: Counting) -> Result<(Count, u32), StoreError> {
        if counting == Counting::Off {
            return Ok((Count::default(), 0));
        }
        let seen = self.counter.read().await?;
        if counting == Counting::Afterwards || self.inbox.0.attempt_limit.is_reached(seen.number) {
            return Ok((seen, seen.number));
        }
        let count = self.counter.change(seen, |number| number.saturating_add(1)).await?;
        Ok((count, count.number.saturating_sub(1)))
    }

    /// The claim is ours. If the message was tried too often it is given back, and nothing is
    /// remembered: only then may the message be told to be poison.
    async fn fresh<E>(&self, claim: Claim, tally: Tally) -> Result<Started<E>, InboxError<E>> {
        if !self.inbox.0.attempt_limit.is_reached(tally.before) {
            return Ok(Started::Fresh(claim, tally));
        }
        if !matches!(claim.release().await, GivenUp::Settled | GivenUp::AlreadyGone) {
            return Err(InboxError::Unavailable(ProblemKind::StoreUnavailable.into()));
        }
        self.counter.change(tally.count, |_| 0).await.map_err(|error| unavailable(&error))?;
        Ok(Started::Settled(Delivery::Poison { attempts: tally.before, error: None }))
    }

    /// No attempt was made. If that can't be written down, the message has one attempt less.
    async fn take_back(&self, count: Count, before: u32) {
        if count.number == before {
            return;
        }
        let changed = self.counter.change(count, |number| number.saturating_sub(1)).await;
        if let Err(error) = changed {
            tracing::warn!(
                key = %self.counter.at.digest,
                error = &error as &dyn std::error::Error,
                "an attempt that was not made stays counted"
            );
        }
    }
}

fn unavailable<E>(error: &StoreError) -> InboxError<E> {
    InboxError::Unavailable(refused_by(error))
}

fn settled<E>(inbox: &Inbox, begun: Begun) -> Result<Started<E>, InboxError<E>> {
    let delivery = match begun {
        Begun::Replay(_) => Delivery::Duplicate,
        Begun::Busy(busy) => later(inbox, busy),
        Begun::Refused(problem) => refused(problem)?,
        Begun::Fresh(_) | Begun::Unprotected(_) => unreachable!("handled by the caller"),
    };
    Ok(Started::Settled(delivery))
}

/// It is being done elsewhere.
pub(super) fn later<E>(inbox: &Inbox, busy: Busy) -> Delivery<E> {
    let left = busy.lease_left.filter(|left| *left > Duration::ZERO);
    Delivery::Later(left.unwrap_or(inbox.0.put_off))
}

/// A problem of this message, or one of the store.
pub(super) fn refused<E>(problem: Problem) -> Result<Delivery<E>, InboxError<E>> {
    match problem.kind() {
        ProblemKind::StoreUnavailable | ProblemKind::StoreFull => {
            Err(InboxError::Unavailable(problem))
        }
        ProblemKind::InDoubt { since } => Ok(Delivery::InDoubt { since: *since }),
        _ => Ok(Delivery::Refused(problem)),
    }
}
