//! Force: an operator takes a lock from its holder.

use super::super::Verdict;
use super::LockAsk;
use super::seen::LockSeen;
use super::standing::{Standing, is_held};
use super::status::HolderStatus;
use crate::fence::Fence;
use crate::lock::{Holder, LockEntry, LockKind, Note, Reason, Stage};
use crate::record::Owner;
use crate::time::StoreTime;

/// Somebody who does not hold a lock wants it released.
#[derive(Debug, Clone)]
pub struct Force {
    /// Whose.
    pub target: ForceTarget,
    /// Who wants it.
    pub by: Owner,
    /// Why.
    pub reason: Reason,
    /// How.
    pub how: ForceHow,
}

/// Whom a lock is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForceTarget {
    /// Whoever holds it.
    Everybody,
    /// The holder with this fence, and nobody who came after it was looked up.
    Fence(Fence),
}

/// How a lock is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ForceHow {
    /// The holder is told to stop and can't renew. Others get the lock when it has said that it
    /// stopped, or when its lease ends: there are never two holders.
    #[default]
    Revoke,
    /// The lock is free at once, after the holder's own delay. For a holder that is known to be
    /// dead: one that is not would be the second.
    AtOnce,
}

/// The answer to [`Force`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forced {
    /// These were told, or lost it.
    Forced(Vec<HolderStatus>),
    /// Nobody held it, or not the one who was meant.
    NotHeld,
}

impl LockAsk for Force {
    type Answer = Forced;

    fn decide(&self, seen: &LockSeen) -> Verdict<Forced, LockEntry> {
        let mut standing = Standing::of(seen, LockKind::Mutex).without_what_is_over(None);
        let now = standing.now;
        let (mut forced, mut changed) = (Vec::new(), false);
        let mut holders = std::mem::take(&mut standing.entry.holders);
        for holder in holders.iter_mut().filter(|holder| self.means(holder)) {
            let note = self.note(holder);
            match (self.how, &holder.stage) {
                // Said once, it is said: the first reason stands.
                (ForceHow::Revoke, Stage::Revoked(_)) => {}
                (ForceHow::Revoke, _) => {
                    holder.stage = Stage::Revoked(note);
                    changed = true;
                }
                (ForceHow::AtOnce, Stage::Resting) => {
                    holder.until = Some(now);
                    changed = true;
                }
                (ForceHow::AtOnce, _) => {
                    let rests = now.after(holder.lock_delay);
                    // As long as it is there, it can be told why.
                    let until = note.until.max(rests);
                    standing.entry.notes.push(Note { until, ..note });
                    (holder.stage, holder.until) = (Stage::Resting, Some(rests));
                    changed = true;
                }
            }
            forced.push(HolderStatus::of(holder, now));
        }
        holders.retain(|holder| is_held(holder) || holder.until.is_some_and(|until| now < until));
        standing.entry.holders = holders;
        let over = standing.entry.notes.len().saturating_sub(LockEntry::MOST_NOTES);
        standing.entry.notes.drain(..over);
        let answer = if forced.is_empty() { Forced::NotHeld } else { Forced::Forced(forced) };
        if changed { standing.write(answer) } else { Verdict::Answer(answer) }
    }
}

impl Force {
    fn means(&self, holder: &Holder) -> bool {
        let meant = match self.target {
            ForceTarget::Everybody => true,
            ForceTarget::Fence(fence) => holder.grant.is_some_and(|grant| grant.fence == fence),
        };
        // What merely rests can't be told anything; it can be freed.
        meant && (is_held(holder) || self.how == ForceHow::AtOnce)
    }

    fn note(&self, holder: &Holder) -> Note {
        let until: StoreTime = holder.until.unwrap_or_default();
        Note { token: holder.token, by: self.by.clone(), reason: self.reason.clone(), until }
    }
}
