//! The decision over locks: who gets one, who waits, who has lost it.
//!
//! Pure, as all of [`protocol`](super): what follows from what was seen and what is asked. Time is
//! only ever the store's, as it was when the entry was seen.
//!
//! ```text
//!            acquire                      release
//!   free -----------------> held(until) ----------> free, or resting until the least time is over
//!     ^                       |  |  renew              ^
//!     |    until + delay      |  +--------> held       |
//!     +-----------------------+                        |
//!                             |  force                 |
//!                             v                        |
//!                          revoked(until) -------------+
//!                                    release, or until + delay
//! ```
//!
//! A holder is free for others iff the store's clock has reached the end of its lease (and of the
//! delay after an unclean end); at the very moment of the end it is. The entry of a single holder
//! carries no moment of its own: the store's lease of the entry is its lease, so that acquiring,
//! renewing and releasing a lock that nobody else wants are one round trip each. Whoever else
//! writes the entry turns that into a moment first.

mod acquire;
mod force;
mod places;
mod release;
mod renew;
mod seen;
mod standing;
mod status;

pub use acquire::{Acquire, Acquired, Queueing};
pub use force::{Force, ForceHow, ForceTarget, Forced};
pub use places::{KeepPlaces, PlacesKept};
pub use release::{Ending, Release, Released};
pub use renew::{Lost, Renew, Renewed};
pub use seen::{LockSeen, SeenLock};
pub use status::{HolderStatus, LockStatus, Occupant, StageStatus, WaiterStatus};

use super::Verdict;
use crate::lock::LockEntry;

/// A question about one lock.
pub trait LockAsk {
    /// What can be answered.
    type Answer;

    /// What follows from what is there. Pure.
    fn decide(&self, seen: &LockSeen) -> Verdict<Self::Answer, LockEntry>;
}
