//! Renew: the work goes on.

use super::{Ask, Seen, Verdict, Write};
use crate::record::{State, Token};
use crate::store::Expect;
use crate::time::Ttl;

/// An owner is still at work.
#[derive(Debug, Clone, Copy)]
pub struct Renew {
    /// Whose claim it is.
    pub token: Token,
    /// Its new lease, from now.
    pub lease: Ttl,
    /// How long an unfinished claim is remembered, from now; never less than its lease.
    pub keep: Ttl,
}

/// The answer to [`Renew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewed {
    /// The lease begins anew. Also where it had ended and nobody had taken over.
    Renewed,
    /// The claim is not held by us any more: taken over, resolved, completed, forgotten.
    Lost,
}

impl Ask for Renew {
    type Answer = Renewed;

    fn decide(&self, seen: &Seen) -> Verdict<Renewed> {
        match seen.owned_by(self.token) {
            Some(ours) if ours.record.state == State::Held => Verdict::Write {
                expect: Expect::Version(ours.version),
                write: Write::Renew { lease: self.lease, keep: self.keep.max(self.lease) },
                answer: Renewed::Renewed,
            },
            Some(_) | None => Verdict::Answer(Renewed::Lost),
        }
    }
}
