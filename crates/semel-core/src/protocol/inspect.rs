//! Inspect: what became of it?

use super::{Ask, Seen, Verdict};
use crate::record::{Outcome, State};
use crate::time::{StoreTime, Ttl};

/// Somebody wants to know; nothing is changed.
#[derive(Debug, Clone, Copy)]
pub struct Inspect;

/// The answer to [`Inspect`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Never begun, released, or forgotten.
    Absent,
    /// Its owner is at work.
    InFlight {
        /// What is left of its lease.
        lease_left: Ttl,
    },
    /// Its outcome can't be known.
    InDoubt {
        /// When it was last heard of.
        since: StoreTime,
    },
    /// It ended.
    Done(Outcome),
}

impl Ask for Inspect {
    type Answer = Status;

    fn decide(&self, seen: &Seen) -> Verdict<Status> {
        let Some(there) = &seen.record else { return Verdict::Answer(Status::Absent) };
        Verdict::Answer(match &there.record.state {
            State::Done(outcome) => Status::Done(outcome.clone()),
            State::Held if !there.lease_left.is_zero() => {
                Status::InFlight { lease_left: there.lease_left }
            }
            State::Held | State::Doubt(_) => Status::InDoubt { since: there.last_written() },
        })
    }
}
