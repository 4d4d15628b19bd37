//! Acquire: is there room, and is it our turn?

use super::super::Verdict;
use super::LockAsk;
use super::seen::LockSeen;
use super::standing::{Standing, is_held};
use super::status::Occupant;
use crate::fence::Fence;
use crate::lock::{Holder, LockEntry, LockKind, Mode, Stage, Waiter, Want};
use crate::record::{Owner, Token};
use crate::time::Ttl;

/// Somebody wants a lock.
#[derive(Debug, Clone)]
pub struct Acquire {
    /// What it will be held with: fresh for each acquisition, the same for each try of one.
    pub token: Token,
    /// What is wanted.
    pub want: Want,
    /// Who wants it.
    pub owner: Option<Owner>,
    /// How long the lock is held unless it is renewed.
    pub lease: Ttl,
    /// How long the next grant waits if this one's lease ends without a release.
    pub lock_delay: Ttl,
    /// How long nobody else gets it, even if it is released.
    pub min_hold: Ttl,
    /// What to do about those who wait.
    pub queueing: Queueing,
}

/// What somebody who wants a lock does about those who wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queueing {
    /// Takes what is free past them, and does not wait itself. A reader does not go past a writer
    /// that waits: there would be no end to it.
    Past,
    /// Comes after those who are there, and does not wait with them yet.
    Behind,
    /// Comes after those who are there, and waits with them. So long its place is good unless it is
    /// renewed.
    Place(Ttl),
}

/// The answer to [`Acquire`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquired {
    /// It is ours.
    Granted {
        /// None: the version of the write is the fence.
        fence: Option<Fence>,
        /// How long at least, from when the entry was seen that this rests on, or, where it was
        /// only presumed, from the write.
        left: Ttl,
    },
    /// Others have it, or come first. There is no place in the queue.
    Held(Occupant),
    /// Others have it, or come first, and we have a place in the queue.
    Queued(Occupant),
    /// It is in use as a lock of another kind.
    OtherKind(LockKind),
}

impl LockAsk for Acquire {
    type Answer = Acquired;

    fn decide(&self, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        let kind = self.want.kind();
        let mut standing = Standing::of(seen, kind).without_what_is_over(Some(self.token));
        if let Some(granted) = self.granted_before(&standing) {
            return Verdict::Answer(granted);
        }
        // What was granted and has lapsed before anybody was told is no better than a new try.
        standing.entry.holders.retain(|holder| holder.token != self.token || !is_held(holder));
        if !standing.entry.kind.is_same_kind(kind) && !standing.is_idle() {
            return Verdict::Answer(Acquired::OtherKind(standing.entry.kind));
        }
        if self.is_admitted(&standing) { self.grant(standing) } else { self.wait(standing) }
    }
}

impl Acquire {
    /// Its liveness is judged here, in the step that grants: a waiter whose place has run out is
    /// one that has none.
    fn is_admitted(&self, standing: &Standing) -> bool {
        let first = |mode: &Mode| match self.queueing {
            Queueing::Behind | Queueing::Place(_) => true,
            Queueing::Past => self.want == Want::read() && *mode == Mode::Exclusive,
        };
        let others = standing.held().chain(standing.ahead(self.token).filter(first));
        self.want.fits(others)
    }

    /// A reply was lost and it is ours already.
    fn granted_before(&self, standing: &Standing) -> Option<Acquired> {
        let ours = standing.holder(self.token).filter(|ours| is_held(ours))?;
        let left = standing.now.until(ours.until.unwrap_or_default());
        let fence = ours.grant.map(|grant| grant.fence);
        (!left.is_zero()).then_some(Acquired::Granted { fence, left })
    }

    fn grant(&self, mut standing: Standing) -> Verdict<Acquired, LockEntry> {
        standing.leave_queue(self.token);
        standing.entry.kind = self.want.kind();
        standing.entry.holders.push(Holder {
            token: self.token,
            mode: self.want.mode(),
            owner: self.owner.clone(),
            grant: None,
            until: None,
            lock_delay: self.lock_delay,
            min_hold: self.min_hold,
            stage: Stage::Held,
        });
        let answer = Acquired::Granted { fence: None, left: self.lease };
        standing.write_granting(self.token, self.lease, answer)
    }

    fn wait(&self, mut standing: Standing) -> Verdict<Acquired, LockEntry> {
        let occupant = Occupant::of(&standing);
        let Queueing::Place(alive) = self.queueing else {
            return Verdict::Answer(Acquired::Held(occupant));
        };
        let queue = &mut standing.entry.queue;
        if queue.iter().any(|waiter| waiter.token == self.token) {
            return Verdict::Answer(Acquired::Queued(occupant));
        }
        if queue.len() >= LockEntry::MOST_WAITERS {
            return Verdict::Answer(Acquired::Held(occupant));
        }
        queue.push(Waiter {
            token: self.token,
            mode: self.want.mode(),
            owner: self.owner.clone(),
            since: standing.now,
            alive_until: standing.now.after(alive),
        });
        standing.write(Acquired::Queued(occupant))
    }
}
