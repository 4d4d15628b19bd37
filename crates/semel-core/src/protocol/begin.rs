//! Begin: may the work run?

use super::{Ask, Seen, SeenRecord, Verdict, Write};
use crate::fingerprint::PartName;
use crate::record::{Claim, Operation, Outcome, Record, State};
use crate::store::Expect;
use crate::time::{StoreTime, Ttl};

/// A call wants to begin.
#[derive(Debug, Clone)]
pub struct Begin {
    /// The claim it would make. Its attempt is counted here.
    pub claim: Claim,
    /// What to do about an unfinished claim whose owner is gone.
    pub in_doubt: InDoubt,
    /// How long the claim holds unless it is renewed.
    pub lease: Ttl,
    /// How long an unfinished claim is remembered: never less than its lease, for a claim that is
    /// forgotten while its owner works is a second execution.
    pub keep: Ttl,
}

/// What to do about a claim whose outcome can't be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum InDoubt {
    /// The next caller takes over.
    #[default]
    Rerun,
    /// Nobody does, until somebody resolves it or it is forgotten.
    Reject,
    /// The application is asked.
    Reconcile,
}

/// The answer to [`Begin`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// The work may run: the claim is ours.
    Fresh {
        /// 1 unless it was taken over.
        attempt: u32,
    },
    /// It ran: this is what came of it.
    Replay(Outcome),
    /// It runs elsewhere.
    InFlight {
        /// What is left of its owner's lease.
        lease_left: Ttl,
    },
    /// The key belongs to another operation.
    KeyReused {
        /// Which.
        recorded: Operation,
    },
    /// The key was used for another request.
    Mismatch {
        /// In which parts it differs.
        differs: Vec<PartName>,
    },
    /// Its outcome can't be known, and it must not run again.
    InDoubt {
        /// When it was last heard of.
        since: StoreTime,
    },
    /// Its outcome can't be known; the application is to say.
    Reconcile(SeenRecord),
}

impl Ask for Begin {
    type Answer = Begun;

    fn decide(&self, seen: &Seen) -> Verdict<Begun> {
        let Some(there) = &seen.record else { return self.claim(Expect::Absent, 1) };
        let recorded = &there.record.claim;
        // Another operation or another request is refused before anything is said about how far
        // the recorded call is: waiting would not make it right.
        if recorded.operation != self.claim.operation {
            return Verdict::Answer(Begun::KeyReused { recorded: recorded.operation.clone() });
        }
        let differs = self.claim.differs_from(recorded);
        if !differs.is_empty() {
            return Verdict::Answer(Begun::Mismatch { differs });
        }
        match &there.record.state {
            State::Done(outcome) => Verdict::Answer(Begun::Replay(outcome.clone())),
            State::Held if recorded.token == self.claim.token => self.settle(there),
            State::Held if !there.lease_left.is_zero() => {
                Verdict::Answer(Begun::InFlight { lease_left: there.lease_left })
            }
            State::Held | State::Doubt(_) => self.doubtful(there),
        }
    }
}

impl Begin {
    /// A reply was lost and the claim is ours already. If its lease ended meanwhile it begins
    /// anew: nobody works on a claim that another may take over at this moment.
    fn settle(&self, ours: &SeenRecord) -> Verdict<Begun> {
        let answer = Begun::Fresh { attempt: ours.record.claim.attempt };
        if !ours.lease_left.is_zero() {
            return Verdict::Answer(answer);
        }
        Verdict::Write {
            expect: Expect::Version(ours.version),
            write: Write::Renew { lease: self.lease, keep: self.keep.max(self.lease) },
            answer,
        }
    }

    fn doubtful(&self, there: &SeenRecord) -> Verdict<Begun> {
        match self.in_doubt {
            InDoubt::Rerun => self.claim(
                Expect::Version(there.version),
                there.record.claim.attempt.saturating_add(1),
            ),
            InDoubt::Reject => Verdict::Answer(Begun::InDoubt { since: there.last_written() }),
            InDoubt::Reconcile => Verdict::Answer(Begun::Reconcile(there.clone())),
        }
    }

    fn claim(&self, expect: Expect, attempt: u32) -> Verdict<Begun> {
        let claim = Claim { attempt, ..self.claim.clone() };
        Verdict::Write {
            expect,
            write: Write::Put {
                record: Record { claim, state: State::Held },
                lease: self.lease,
                keep: self.keep.max(self.lease),
            },
            answer: Begun::Fresh { attempt },
        }
    }
}
