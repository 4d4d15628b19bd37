//! Resolve: somebody who knows says how a doubtful call ended.

use super::{Ask, Seen, SeenRecord, Verdict, Write};
use crate::record::{Claim, Outcome, Record, State, Token};
use crate::store::{Expect, Version};
use crate::time::Ttl;

/// An operator, or the application's hook, settles a call in doubt.
#[derive(Debug, Clone)]
pub struct Resolve {
    /// The version that was looked at: a decision on old news changes nothing.
    pub version: Version,
    /// Fresh for each resolution. An outcome is recorded under it, not under the owner's token: a
    /// late owner finds that it was superseded, and a resolution whose reply was lost is found to
    /// be ours.
    pub token: Token,
    /// How it ended.
    pub resolution: Resolution,
}

/// How a doubtful call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It took effect, and this is its answer from now on.
    Done {
        /// The answer.
        outcome: Outcome,
        /// How long it is remembered, from now.
        keep: Ttl,
    },
    /// It took no effect: the key is free.
    Free,
}

/// The answer to [`Resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// It is settled; or, where it was to be free, it is free.
    Settled,
    /// It changed since it was looked at: look again. This try changed nothing.
    Changed,
    /// Its owner is at work: it is not in doubt. Nothing was changed.
    StillHeld {
        /// What is left of its lease.
        lease_left: Ttl,
    },
    /// It has an outcome already. Nothing was changed.
    AlreadyDone,
}

impl Ask for Resolve {
    type Answer = Resolved;

    fn decide(&self, seen: &Seen) -> Verdict<Resolved> {
        let Some(there) = &seen.record else { return Verdict::Answer(self.on_absent()) };
        // A reply was lost and the resolution is there already.
        if there.record.claim.token == self.token {
            return Verdict::Answer(Resolved::Settled);
        }
        if there.version != self.version {
            return Verdict::Answer(Resolved::Changed);
        }
        match &there.record.state {
            State::Done(_) => Verdict::Answer(Resolved::AlreadyDone),
            State::Held if !there.lease_left.is_zero() => {
                Verdict::Answer(Resolved::StillHeld { lease_left: there.lease_left })
            }
            State::Held | State::Doubt(_) => Verdict::Write {
                expect: Expect::Version(there.version),
                write: self.write(there),
                answer: Resolved::Settled,
            },
        }
    }
}

impl Resolve {
    const fn on_absent(&self) -> Resolved {
        match self.resolution {
            Resolution::Free => Resolved::Settled,
            Resolution::Done { .. } => Resolved::Changed,
        }
    }

    fn write(&self, there: &SeenRecord) -> Write {
        match &self.resolution {
            Resolution::Free => Write::Delete,
            Resolution::Done { outcome, keep } => Write::Put {
                record: Record {
                    claim: Claim { token: self.token, ..there.record.claim.clone() },
                    state: State::Done(outcome.clone()),
                },
                lease: Ttl::ZERO,
                keep: *keep,
            },
        }
    }
}
