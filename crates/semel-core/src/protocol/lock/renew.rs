//! Renew: the holder goes on.

use super::super::Verdict;
use super::LockAsk;
use super::force::ForceHow;
use super::seen::LockSeen;
use super::standing::{Standing, is_held};
use crate::lock::{LockEntry, LockKind, Note, Stage};
use crate::record::Token;
use crate::time::Ttl;

/// A holder wants its lease to begin anew.
#[derive(Debug, Clone, Copy)]
pub struct Renew {
    /// Whose it is.
    pub token: Token,
    /// The new lease, from now.
    pub lease: Ttl,
}

/// The answer to [`Renew`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewed {
    /// The lease begins anew. Also where it had ended and nobody had taken its place.
    Renewed,
    /// It is not held by us any more, or not to be.
    Lost(Lost),
}

/// Why a lock is not its holder's any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// It was forced.
    Forced {
        /// By whom and why.
        note: Note,
        /// Told to stop, its holder has it until it stops or its lease ends; taken at once, it may
        /// be another's already.
        how: ForceHow,
    },
    /// The lease ended and others came.
    Superseded,
    /// There is no entry at all.
    Gone,
    /// The holder released it itself.
    Released,
}

impl LockAsk for Renew {
    type Answer = Renewed;

    fn decide(&self, seen: &LockSeen) -> Verdict<Renewed, LockEntry> {
        let standing = Standing::of(seen, LockKind::Mutex).without_what_is_over(Some(self.token));
        match standing.holder(self.token).map(|ours| &ours.stage) {
            Some(Stage::Held) => standing.write_granting(self.token, self.lease, Renewed::Renewed),
            Some(Stage::Revoked(note)) => {
                let (note, how) = (note.clone(), ForceHow::Revoke);
                Verdict::Answer(Renewed::Lost(Lost::Forced { note, how }))
            }
            Some(Stage::Resting) | None => {
                Verdict::Answer(Renewed::Lost(Lost::why(&standing, self.token)))
            }
        }
    }
}

impl Lost {
    /// Why a token is not among those who hold the lock now.
    pub(super) fn why(standing: &Standing, token: Token) -> Self {
        if let Some(note) = standing.note(token) {
            // Who is told to stop is a holder still: its note is its own.
            return Self::Forced { note: note.clone(), how: ForceHow::AtOnce };
        }
        if standing.holder(token).is_some() {
            return Self::Released;
        }
        if standing.is_absent() { Self::Gone } else { Self::Superseded }
    }

    /// Whether somebody else holds it now.
    #[must_use]
    pub fn is_held_by_another(seen: &LockSeen) -> bool {
        let standing = Standing::of(seen, LockKind::Mutex).without_what_is_over(None);
        standing.entry.holders.iter().any(is_held)
    }
}
