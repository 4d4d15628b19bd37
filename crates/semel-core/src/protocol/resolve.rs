//! Resolve: somebody who knows says how a doubtful call ended.

use super::{Ask, Seen, SeenRecord, Verdict, Write};
use crate::record::{Outcome, Record, State};
use crate::store::{Expect, Version};
use crate::time::Ttl;

/// An operator, or the application's hook, settles a call in doubt.
#[derive(Debug, Clone)]
pub struct Resolve {
    /// The version that was looked at: a decision on old news changes nothing.
    pub version: Version,
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
    /// It is settled.
    Settled,
    /// It changed since it was looked at. Nothing was changed.
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
        let Some(there) = seen.record.as_ref().filter(|there| there.version == self.version) else {
            return Verdict::Answer(Resolved::Changed);
        };
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
    fn write(&self, there: &SeenRecord) -> Write {
        match &self.resolution {
            Resolution::Free => Write::Delete,
            Resolution::Done { outcome, keep } => Write::Put {
                record: Record {
                    claim: there.record.claim.clone(),
                    state: State::Done(outcome.clone()),
                },
                lease: Ttl::ZERO,
                keep: *keep,
            },
        }
    }
}
