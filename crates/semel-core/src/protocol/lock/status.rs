//! What may be told of a lock: everything but its tokens.

use super::seen::LockSeen;
use super::standing::{Standing, blocks_until};
use crate::fence::Fence;
use crate::lock::{Holder, LockKind, Mode, Note, Reason, Stage};
use crate::record::Owner;
use crate::time::{StoreTime, Ttl};

/// Who is in the way of somebody who wants a lock: of several, the one who will be gone first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupant {
    /// Who it is, as far as they said.
    pub owner: Option<Owner>,
    /// Their fence; none for somebody who only waits, and comes first.
    pub fence: Option<Fence>,
    /// Since when, by the store's clock.
    pub since: StoreTime,
    /// How long they block the lock at most, unless they renew it.
    pub left: Ttl,
    /// How many wait.
    pub waiting: usize,
}

impl Occupant {
    pub(super) fn of(standing: &Standing) -> Self {
        let (now, waiting) = (standing.now, standing.entry.queue.len());
        if let Some(holder) = standing.entry.holders.iter().min_by_key(|there| blocks_until(there))
        {
            return Self {
                owner: holder.owner.clone(),
                fence: holder.grant.map(|grant| grant.fence),
                since: holder.grant.map_or(now, |grant| grant.since),
                left: now.until(blocks_until(holder)),
                waiting,
            };
        }
        let first = standing.entry.queue.first();
        Self {
            owner: first.and_then(|waiter| waiter.owner.clone()),
            fence: None,
            since: first.map_or(now, |waiter| waiter.since),
            left: first.map_or(Ttl::ZERO, |waiter| now.until(waiter.alive_until)),
            waiting,
        }
    }
}

/// A lock that somebody holds or waits for, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockStatus {
    /// What it is locked as.
    pub kind: LockKind,
    /// Who holds it.
    pub holders: Vec<HolderStatus>,
    /// Who waits, in order.
    pub queue: Vec<WaiterStatus>,
    /// The store's clock when it was seen.
    pub now: StoreTime,
}

/// A holder, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderStatus {
    /// Who it is, as far as they said.
    pub owner: Option<Owner>,
    /// Whether others may hold it beside them.
    pub mode: Mode,
    /// Their fence.
    pub fence: Option<Fence>,
    /// Since when, by the store's clock.
    pub since: Option<StoreTime>,
    /// When their lease ends unless they renew it, by the store's clock.
    pub until: Option<StoreTime>,
    /// What is left of it.
    pub left: Ttl,
    /// How far it is.
    pub stage: StageStatus,
}

/// How far a holder is, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StageStatus {
    /// It holds the lock.
    Held,
    /// Its lease has ended without a release, and the delay after that has not.
    Delayed,
    /// It was told to stop.
    Revoked {
        /// By whom.
        by: Owner,
        /// Why.
        reason: Reason,
    },
    /// It released the lock before its least time was over.
    Resting,
}

/// A waiter, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaiterStatus {
    /// Who it is, as far as they said.
    pub owner: Option<Owner>,
    /// How they want to hold it.
    pub mode: Mode,
    /// Since when they wait, by the store's clock.
    pub since: StoreTime,
}

impl LockStatus {
    /// What was seen, without what is over by then; none for a lock that nobody holds or waits for.
    #[must_use]
    pub fn of(seen: &LockSeen) -> Option<Self> {
        let standing = Standing::of(seen, LockKind::Mutex).without_what_is_over(None);
        if standing.is_idle() {
            return None;
        }
        let (now, entry) = (standing.now, standing.entry);
        Some(Self {
            kind: entry.kind,
            holders: entry.holders.iter().map(|holder| HolderStatus::of(holder, now)).collect(),
            queue: (entry.queue.into_iter())
                .map(|there| WaiterStatus {
                    owner: there.owner,
                    mode: there.mode,
                    since: there.since,
                })
                .collect(),
            now,
        })
    }

    /// When something may change without a write: a lease that ends, a waiter that is gone. What is
    /// left until then.
    #[must_use]
    pub fn next_end(seen: &LockSeen) -> Option<Ttl> {
        let standing = Standing::of(seen, LockKind::Mutex).without_what_is_over(None);
        let (now, entry) = (standing.now, &standing.entry);
        let ends = entry.holders.iter().map(blocks_until);
        let ends = ends.chain(entry.queue.iter().map(|waiter| waiter.alive_until));
        ends.min().map(|end| now.until(end))
    }
}

impl HolderStatus {
    pub(super) fn of(holder: &Holder, now: StoreTime) -> Self {
        let left = now.until(holder.until.unwrap_or(now));
        Self {
            owner: holder.owner.clone(),
            mode: holder.mode,
            fence: holder.grant.map(|grant| grant.fence),
            since: holder.grant.map(|grant| grant.since),
            until: holder.until,
            left,
            stage: match &holder.stage {
                Stage::Held if left.is_zero() => StageStatus::Delayed,
                Stage::Held => StageStatus::Held,
                Stage::Revoked(Note { by, reason, .. }) => {
                    StageStatus::Revoked { by: by.clone(), reason: reason.clone() }
                }
                Stage::Resting => StageStatus::Resting,
            },
        }
    }
}
