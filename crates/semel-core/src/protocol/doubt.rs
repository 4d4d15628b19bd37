//! Doubt: the owner can't say how its work ended.

use super::{Ask, Seen, Verdict, Write};
use crate::record::{Doubt, Record, State, Token};
use crate::store::Expect;
use crate::time::Ttl;

/// An owner gives its claim up without knowing what its work did.
#[derive(Debug, Clone, Copy)]
pub struct MarkDoubt {
    /// Whose claim it is.
    pub token: Token,
    /// Why it can't be known.
    pub doubt: Doubt,
    /// How long that is remembered, from now.
    pub keep: Ttl,
}

/// The answer to [`MarkDoubt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// It is recorded as in doubt.
    InDoubt,
    /// The claim was lost or had ended already. Nothing was changed.
    NotOurs,
}

impl Ask for MarkDoubt {
    type Answer = Marked;

    fn decide(&self, seen: &Seen) -> Verdict<Marked> {
        let Some(ours) = seen.owned_by(self.token) else {
            return Verdict::Answer(Marked::NotOurs);
        };
        match ours.record.state {
            State::Doubt(_) => Verdict::Answer(Marked::InDoubt),
            State::Done(_) => Verdict::Answer(Marked::NotOurs),
            State::Held => Verdict::Write {
                expect: Expect::Version(ours.version),
                write: Write::Put {
                    record: Record {
                        claim: ours.record.claim.clone(),
                        state: State::Doubt(self.doubt),
                    },
                    lease: Ttl::ZERO,
                    keep: self.keep,
                },
                answer: Marked::InDoubt,
            },
        }
    }
}
