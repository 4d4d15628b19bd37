//! Release: the holder is done.

use super::super::Verdict;
use super::LockAsk;
use super::renew::Lost;
use super::seen::LockSeen;
use super::standing::Standing;
use crate::lock::{Holder, LockEntry, LockKind, Stage};
use crate::record::Token;
use crate::time::StoreTime;

/// A holder gives a lock back, or a waiter its place.
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// Whose it is.
    pub token: Token,
    /// Whether it was used.
    pub ending: Ending,
}

/// How a holder is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It worked under the lock: the least time of holding counts.
    Used,
    /// It never knew that it held it.
    Unused,
}

/// The answer to [`Release`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Released {
    /// It is given back. Nobody gets it before this moment, where there is one.
    Released {
        /// The end of the least time of holding.
        rests_until: Option<StoreTime>,
    },
    /// An earlier release was applied; it rests.
    Already,
    /// Its lease had ended and nobody had come: it is given back now.
    Lapsed,
    /// It was not held by us, and this changed nothing of what others hold.
    NotHeld(Lost),
}

impl LockAsk for Release {
    type Answer = Released;

    fn decide(&self, seen: &LockSeen) -> Verdict<Released, LockEntry> {
        let mut standing =
            Standing::of(seen, LockKind::Mutex).without_what_is_over(Some(self.token));
        let now = standing.now;
        let queued = standing.entry.queue.iter().any(|waiter| waiter.token == self.token);
        standing.leave_queue(self.token);
        match standing.holder_mut(self.token) {
            Some(ours) if ours.stage == Stage::Resting => {
                Verdict::Answer(match Lost::why(&standing, self.token) {
                    Lost::Released => Released::Already,
                    forced => Released::NotHeld(forced),
                })
            }
            Some(ours) => match self.rest(ours, now) {
                Some(until) => {
                    (ours.stage, ours.until) = (Stage::Resting, Some(until));
                    standing.write(Released::Released { rests_until: Some(until) })
                }
                None => {
                    let lapsed = ours.until.unwrap_or_default() <= now;
                    standing.entry.holders.retain(|holder| holder.token != self.token);
                    standing.write(if lapsed {
                        Released::Lapsed
                    } else {
                        Released::Released { rests_until: None }
                    })
                }
            },
            None => {
                let answer = Released::NotHeld(Lost::why(&standing, self.token));
                if queued { standing.write(answer) } else { Verdict::Answer(answer) }
            }
        }
    }
}

impl Release {
    /// Until when a lock that is released now has to rest.
    fn rest(&self, ours: &Holder, now: StoreTime) -> Option<StoreTime> {
        let until = ours.least_until()?;
        (self.ending == Ending::Used && now < until).then_some(until)
    }
}
