//! Release: the work did not happen, a retry may run.

use super::{Ask, Seen, Verdict, Write};
use crate::record::{State, Token};
use crate::store::Expect;

/// An owner gives its claim back.
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// Whose claim it is.
    pub token: Token,
}

/// The answer to [`Release`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// The key is free.
    Released,
    /// There was nothing under the key: an earlier try was applied, or it was forgotten.
    AlreadyGone,
    /// The key is not held by this claim: it was lost, or has ended. This try changed nothing.
    NotOurs,
}

impl Ask for Release {
    type Answer = Released;

    fn decide(&self, seen: &Seen) -> Verdict<Released> {
        if seen.record.is_none() {
            return Verdict::Answer(Released::AlreadyGone);
        }
        match seen.owned_by(self.token) {
            Some(ours) if ours.record.state == State::Held => Verdict::Write {
                expect: Expect::Version(ours.version),
                write: Write::Delete,
                answer: Released::Released,
            },
            // A finished call is never freed by its owner, nor is one that it called doubtful.
            Some(_) | None => Verdict::Answer(Released::NotOurs),
        }
    }
}
