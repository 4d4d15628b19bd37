//! Complete: the work ended.

use super::{Ask, Seen, SeenRecord, Verdict, Write};
use crate::record::{Claim, Extent, Outcome, Record, State};
use crate::store::Expect;
use crate::time::{StoreTime, Ttl};

/// An owner's work has ended, and this came of it.
#[derive(Debug, Clone)]
pub struct Complete {
    /// The owner's claim.
    pub claim: Claim,
    /// What came of it.
    pub outcome: Outcome,
    /// How long that is remembered, from now.
    pub keep: Ttl,
}

/// The answer to [`Complete`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completed {
    /// It is recorded.
    Recorded,
    /// The claim was taken over or resolved meanwhile, or its first outcome was another one.
    /// Nothing was changed.
    Superseded(Successor),
}

/// What stands in place of a claim that was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Successor {
    /// A recorded outcome: the answer that everybody else gets.
    Done(Outcome),
    /// Another owner is at work.
    InFlight {
        /// What is left of its lease.
        lease_left: Ttl,
    },
    /// Another owner's outcome can't be known.
    InDoubt {
        /// When it was last heard of.
        since: StoreTime,
    },
    /// The key now belongs to another operation or another request: no answer of ours.
    Other,
    /// Nothing: it was released or forgotten.
    Nothing,
}

impl Ask for Complete {
    type Answer = Completed;

    fn decide(&self, seen: &Seen) -> Verdict<Completed> {
        let Some(ours) = seen.owned_by(self.claim.token) else {
            return Verdict::Answer(Completed::Superseded(Successor::of(seen, &self.claim)));
        };
        match &ours.record.state {
            // A lease that ended harms nothing as long as nobody took over.
            State::Held | State::Doubt(_) => self.record(ours),
            // An earlier try was applied and its reply lost.
            State::Done(recorded) if *recorded == self.outcome => {
                Verdict::Answer(Completed::Recorded)
            }
            State::Done(recorded) => match (recorded.extent, self.outcome.extent) {
                // What was recorded in part is completed once the rest of it is there.
                (Extent::Partial, Extent::Whole) => self.record(ours),
                // The part comes late: more than that is there already.
                (Extent::Whole, Extent::Partial) => Verdict::Answer(Completed::Recorded),
                // The first outcome is final, even against its own owner.
                (Extent::Whole, Extent::Whole) | (Extent::Partial, Extent::Partial) => {
                    let recorded = Successor::Done(recorded.clone());
                    Verdict::Answer(Completed::Superseded(recorded))
                }
            },
        }
    }
}

impl Complete {
    /// The claim that is there goes on into the outcome: what it says of operation and
    /// fingerprint can't be lost on the way.
    fn record(&self, ours: &SeenRecord) -> Verdict<Completed> {
        Verdict::Write {
            expect: Expect::Version(ours.version),
            write: Write::Put {
                record: Record {
                    claim: ours.record.claim.clone(),
                    state: State::Done(self.outcome.clone()),
                },
                lease: Ttl::ZERO,
                keep: self.keep,
            },
            answer: Completed::Recorded,
        }
    }
}

impl Successor {
    /// What stands where `claim` was.
    #[must_use]
    pub fn of(seen: &Seen, claim: &Claim) -> Self {
        let Some(there) = &seen.record else { return Self::Nothing };
        if !there.record.claim.is_same_request(claim) {
            return Self::Other;
        }
        match &there.record.state {
            State::Done(outcome) => Self::Done(outcome.clone()),
            State::Held if !there.lease_left.is_zero() => {
                Self::InFlight { lease_left: there.lease_left }
            }
            State::Held | State::Doubt(_) => Self::InDoubt { since: there.last_written() },
        }
    }
}
