//! Keeping places in the queue.

use super::super::Verdict;
use super::LockAsk;
use super::seen::LockSeen;
use super::standing::Standing;
use crate::lock::{LockEntry, LockKind};
use crate::record::Token;
use crate::time::Ttl;

/// Waiters are still there: all of one process at once.
#[derive(Debug, Clone)]
pub struct KeepPlaces {
    /// Whose places.
    pub tokens: Vec<Token>,
    /// How long they are good, from now.
    pub alive: Ttl,
}

/// The answer to [`KeepPlaces`]. A place that has run out is not given back: who lost it enters
/// anew, behind those who came meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacesKept;

impl LockAsk for KeepPlaces {
    type Answer = PlacesKept;

    fn decide(&self, seen: &LockSeen) -> Verdict<PlacesKept, LockEntry> {
        // The kind of an absent lock does not matter: nobody has a place in it.
        let mut standing = Standing::of(seen, LockKind::Mutex).without_what_is_over(None);
        let until = standing.now.after(self.alive);
        let mut kept = false;
        for waiter in &mut standing.entry.queue {
            if self.tokens.contains(&waiter.token) {
                waiter.alive_until = until;
                kept = true;
            }
        }
        if kept { standing.write(PlacesKept) } else { Verdict::Answer(PlacesKept) }
    }
}
