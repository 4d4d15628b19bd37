//! What is remembered of a lock that was forced.

use super::words::Reason;
use crate::record::{Owner, Token};
use crate::time::StoreTime;

/// What was forced upon a holder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Note {
    /// Upon whom.
    pub token: Token,
    /// By whom.
    pub by: Owner,
    /// Why.
    pub reason: Reason,
    /// Until when it is remembered: as long as they could believe that they hold the lock.
    pub until: StoreTime,
}
