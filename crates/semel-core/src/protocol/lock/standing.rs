//! A lock as it stands at one moment, with nothing left to the store's stamps.

use super::super::{Verdict, Write};
use super::seen::LockSeen;
use crate::lock::{Grant, Holder, LockEntry, LockKind, Mode, Note, Stage};
use crate::record::Token;
use crate::store::{Expect, Version};
use crate::time::{StoreTime, Ttl};

/// How long an entry stays when nothing in it matters any more: so long a holder that comes late is
/// told why it lost the lock. A part of the byte form: the end of a lease that the store stamped is
/// told from the end of the entry by it.
const TAIL: Ttl = match Ttl::from_micros(10_000_000) {
    Some(tail) => tail,
    None => Ttl::ZERO,
};

/// What is there, settled: each holder has its grant and the end of its lease.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) now: StoreTime,
    pub(super) entry: LockEntry,
    version: Option<Version>,
    stored: Option<LockEntry>,
}

impl Standing {
    /// As it was seen. An absent lock is one of this kind.
    pub(super) fn of(seen: &LockSeen, kind: LockKind) -> Self {
        let now = seen.now;
        let Some(there) = &seen.entry else {
            return Self { now, entry: LockEntry::free(kind), version: None, stored: None };
        };
        let mut entry = there.entry.clone();
        for holder in &mut entry.holders {
            holder.grant.get_or_insert_with(|| Grant::by(there.version));
            if holder.until.is_none() {
                holder.until = Some(if there.lease_left.is_zero() {
                    // It ended so long before the entry does.
                    now.after(there.keep_left).before(holder.afterwards().plus(TAIL)).min(now)
                } else {
                    now.after(there.lease_left)
                });
            }
        }
        Self { now, entry, version: Some(there.version), stored: Some(there.entry.clone()) }
    }

    /// Without what is over by now: holders whose lease has ended, except the one of this token;
    /// waiters that are gone; notes nobody needs.
    pub(super) fn without_what_is_over(mut self, except: Option<Token>) -> Self {
        let now = self.now;
        let LockEntry { holders, queue, notes, .. } = &mut self.entry;
        holders.retain(|holder| Some(holder.token) == except || now < blocks_until(holder));
        queue.retain(|waiter| now < waiter.alive_until);
        notes.retain(|note| now < note.until);
        self
    }

    pub(super) const fn is_absent(&self) -> bool {
        self.version.is_none()
    }

    /// Whether nobody holds it and nobody waits.
    pub(super) fn is_idle(&self) -> bool {
        self.entry.holders.is_empty() && self.entry.queue.is_empty()
    }

    pub(super) fn holder(&self, token: Token) -> Option<&Holder> {
        self.entry.holders.iter().find(|holder| holder.token == token)
    }

    pub(super) fn holder_mut(&mut self, token: Token) -> Option<&mut Holder> {
        self.entry.holders.iter_mut().find(|holder| holder.token == token)
    }

    pub(super) fn note(&self, token: Token) -> Option<&Note> {
        self.entry.notes.iter().find(|note| note.token == token)
    }

    /// Takes a token out of the queue.
    pub(super) fn leave_queue(&mut self, token: Token) {
        self.entry.queue.retain(|waiter| waiter.token != token);
    }

    /// The modes of those who come before this token: all in the queue, if it has no place.
    pub(super) fn ahead(&self, token: Token) -> impl Iterator<Item = Mode> + '_ {
        let ahead = self.entry.queue.iter().take_while(move |waiter| waiter.token != token);
        ahead.map(|waiter| waiter.mode)
    }

    pub(super) fn held(&self) -> impl Iterator<Item = Mode> + '_ {
        self.entry.holders.iter().map(|holder| holder.mode)
    }

    /// The write that makes it so, in which this token's lease begins anew.
    pub(super) fn write_granting<A>(
        mut self,
        token: Token,
        lease: Ttl,
        answer: A,
    ) -> Verdict<A, LockEntry> {
        let until = self.now.after(lease);
        let alone = self.entry.holders.len() == 1 && self.entry.notes.is_empty();
        let Some(holder) = self.holder_mut(token) else { return self.write(answer) };
        if !alone {
            holder.until = Some(until);
            return self.write(answer);
        }
        // The store stamps it: its own clock at the write itself.
        holder.until = None;
        let keep = lease.plus(holder.afterwards()).plus(TAIL);
        let write = if self.stored.as_ref() == Some(&self.entry) {
            Write::Renew { lease, keep }
        } else {
            Write::Put { record: self.entry, lease, keep }
        };
        Verdict::Write { expect: expected(self.version), write, answer }
    }

    /// The write that makes it so.
    pub(super) fn write<A>(self, answer: A) -> Verdict<A, LockEntry> {
        let LockEntry { holders, queue, notes, .. } = &self.entry;
        let write = if holders.is_empty() && queue.is_empty() && notes.is_empty() {
            if self.is_absent() {
                return Verdict::Answer(answer);
            }
            Write::Delete
        } else {
            let lease = holders.iter().filter_map(|holder| holder.until).max();
            let keep = (holders.iter().map(blocks_until))
                .chain(queue.iter().map(|waiter| waiter.alive_until))
                .chain(notes.iter().map(|note| note.until))
                .max();
            let left = |moment: Option<StoreTime>| self.now.until(moment.unwrap_or(self.now));
            let (lease, keep) = (left(lease), left(keep).plus(TAIL));
            Write::Put { record: self.entry, lease, keep }
        };
        Verdict::Write { expect: expected(self.version), write, answer }
    }
}

/// When others may get what this holder has; its lease's end is settled.
pub(super) fn blocks_until(holder: &Holder) -> StoreTime {
    holder.blocks_until(holder.until.unwrap_or_default())
}

pub(super) fn is_held(holder: &Holder) -> bool {
    matches!(holder.stage, Stage::Held | Stage::Revoked(_))
}

fn expected(version: Option<Version>) -> Expect {
    version.map_or(Expect::Absent, Expect::Version)
}
