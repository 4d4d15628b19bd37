//! The entry of a lock.

use super::holder::Holder;
use super::kind::{LockKind, Mode};
use super::note::Note;
use crate::record::{Owner, Token};
use crate::time::StoreTime;

/// What the entry of a lock says. A lock that is free and that nobody waits for has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockEntry {
    /// What it is locked as.
    pub kind: LockKind,
    /// Who holds it: at most [`Permits::MOST`](super::Permits::MOST).
    pub holders: Vec<Holder>,
    /// Who waits, in order of arrival: at most [`LockEntry::MOST_WAITERS`].
    pub queue: Vec<Waiter>,
    /// What was forced, for those whom it befell: at most [`LockEntry::MOST_NOTES`], the latest.
    pub notes: Vec<Note>,
}

impl LockEntry {
    /// The most places in a queue. Who comes later waits beside it and enters when there is room.
    pub const MOST_WAITERS: usize = 256;
    /// The most notes that are kept.
    pub const MOST_NOTES: usize = 16;

    /// A lock of this kind that nobody holds.
    #[must_use]
    pub const fn free(kind: LockKind) -> Self {
        Self { kind, holders: Vec::new(), queue: Vec::new(), notes: Vec::new() }
    }
}

/// A place in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Waiter {
    /// What proves that it is theirs, and what they will hold the lock with.
    pub token: Token,
    /// How they want to hold it.
    pub mode: Mode,
    /// Who it is, for people.
    pub owner: Option<Owner>,
    /// Since when they have waited.
    pub since: StoreTime,
    /// When they are taken for gone, unless they say that they are there.
    pub alive_until: StoreTime,
}
