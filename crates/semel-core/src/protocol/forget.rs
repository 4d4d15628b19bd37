//! Forget: somebody wants a key to be as if it had never been used.

use super::{Ask, Seen, Verdict, Write};
use crate::record::State;
use crate::store::{Expect, Version};
use crate::time::Ttl;

/// An operator forgets a call: its key is free, and it may run again.
#[derive(Debug, Clone, Copy)]
pub struct Forget {
    /// The version that was looked at: a decision on old news changes nothing.
    pub version: Version,
    /// Whether an owner at work stands in the way.
    pub owner: AtWork,
}

/// What an owner at work means to [`Forget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtWork {
    /// Nothing is forgotten while it has its lease.
    Respected,
    /// It loses its claim. Another may do the same work while it is still at it.
    Overridden,
}

/// The answer to [`Forget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Forgotten {
    /// It is forgotten: the key is free. That also if it was free before.
    Forgotten,
    /// It changed since it was looked at: look again. Nothing was changed.
    Changed,
    /// Its owner is at work. Nothing was changed.
    StillHeld {
        /// What is left of its lease.
        lease_left: Ttl,
    },
}

impl Ask for Forget {
    type Answer = Forgotten;

    fn decide(&self, seen: &Seen) -> Verdict<Forgotten> {
        let Some(there) = &seen.record else { return Verdict::Answer(Forgotten::Forgotten) };
        if there.version != self.version {
            return Verdict::Answer(Forgotten::Changed);
        }
        let is_at_work = there.record.state == State::Held && !there.lease_left.is_zero();
        if is_at_work && self.owner == AtWork::Respected {
            return Verdict::Answer(Forgotten::StillHeld { lease_left: there.lease_left });
        }
        Verdict::Write {
            expect: Expect::Version(there.version),
            write: Write::Delete,
            answer: Forgotten::Forgotten,
        }
    }
}
