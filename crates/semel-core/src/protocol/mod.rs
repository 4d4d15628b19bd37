//! The decision: what follows from what is there.
//!
//! Everything here is pure: no clock, no I/O, no randomness. The engine only drives it (swap,
//! decide, swap), and a model check or a simulation runs the very same functions.
//!
//! ```text
//!             begin                    complete
//!   absent ----------> held(lease) -------------> done(outcome) --keep ends--> absent
//!      ^                  |  |  renew
//!      |   release        |  +--------> held
//!      +------------------+
//!                         |  lease ends, or doubt
//!                         v
//!                      in doubt --(rerun | reject | reconcile)--> held / stays / done
//! ```
//!
//! Each question is a type with an answer of its own, so that no caller has to deal with an
//! answer that can't come.

mod backoff;
mod begin;
mod complete;
mod doubt;
mod forget;
mod gate;
mod inspect;
mod lease;
pub mod lock;
mod release;
mod renew;
mod resolve;
mod seen;

pub use backoff::Backoff;
pub use begin::{Begin, Begun, InDoubt};
pub use complete::{Complete, Completed, Successor};
pub use doubt::{MarkDoubt, Marked};
pub use forget::{AtWork, Forget, Forgotten};
pub use gate::{Passage, judge};
pub use inspect::{Inspect, Status};
pub use lease::{Lease, LeaseStep};
pub use release::{Release, Released};
pub use renew::{Renew, Renewed};
pub use resolve::{Resolution, Resolve, Resolved};
pub use seen::{Seen, SeenRecord};

use crate::record::Record;
use crate::store::Expect;
use crate::time::Ttl;

/// A question about one key.
pub trait Ask {
    /// What can be answered.
    type Answer;

    /// What follows from what is there. Pure.
    fn decide(&self, seen: &Seen) -> Verdict<Self::Answer>;
}

/// What follows from what is there.
pub fn decide<A: Ask>(seen: &Seen, ask: &A) -> Verdict<A::Answer> {
    ask.decide(seen)
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a verdict does nothing until it is carried out"]
pub enum Verdict<A, R = Record> {
    /// Try this write; the answer holds if it wins. If it loses, decide again on what is there.
    Write {
        /// What must still be there.
        expect: Expect,
        /// What to write.
        write: Write<R>,
        /// What is then the answer.
        answer: A,
    },
    /// The answer; nothing is written.
    Answer(A),
}

/// A write, before it is encoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Write<R = Record> {
    /// This record with these deadlines.
    Put {
        /// The record.
        record: R,
        /// Who may act, for how long.
        lease: Ttl,
        /// How long it is remembered.
        keep: Ttl,
    },
    /// The record that is there, with new deadlines.
    Renew {
        /// Who may act, for how long.
        lease: Ttl,
        /// How long it is remembered.
        keep: Ttl,
    },
    /// Nothing.
    Delete,
}
