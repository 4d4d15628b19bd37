//! What decides: the production decision, or a broken variant of it.

use semel_core::lock::LockEntry;
use semel_core::protocol::Verdict;
use semel_core::protocol::lock::{
    Acquire, Acquired, Force, Forced, KeepPlaces, LockAsk, LockSeen, PlacesKept, Release, Released,
    Renew, Renewed,
};

/// Everything that may be asked, and how a client counts its lease.
pub(crate) trait Rules {
    fn acquire(&self, ask: &Acquire, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        ask.decide(seen)
    }

    fn renew(&self, ask: &Renew, seen: &LockSeen) -> Verdict<Renewed, LockEntry> {
        ask.decide(seen)
    }

    fn release(&self, ask: &Release, seen: &LockSeen) -> Verdict<Released, LockEntry> {
        ask.decide(seen)
    }

    fn keep(&self, ask: &KeepPlaces, seen: &LockSeen) -> Verdict<PlacesKept, LockEntry> {
        ask.decide(seen)
    }

    fn force(&self, ask: &Force, seen: &LockSeen) -> Verdict<Forced, LockEntry> {
        ask.decide(seen)
    }

    /// From when a client counts what it was granted: when it asked, or when it was told.
    fn counted_from(&self, asked: u64, _told: u64) -> u64 {
        asked
    }
}

/// As it is shipped.
pub(crate) struct Production;

impl Rules for Production {}
