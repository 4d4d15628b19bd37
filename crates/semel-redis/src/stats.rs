//! Counting what is out of the ordinary.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a store has met so far. All of it is counted since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RedisStats {
    /// Calls for which the script itself had to be sent, because the server had forgotten it.
    pub scripts_sent: u64,
    /// Writes that too few replicas acknowledged in time.
    pub acks_short: u64,
    /// How often the servers were found to have lost their data.
    pub losses: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    scripts_sent: AtomicU64,
    acks_short: AtomicU64,
}

impl Counters {
    pub(crate) fn script_sent(&self) {
        self.scripts_sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ack_short(&self) {
        self.acks_short.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self, losses: u64) -> RedisStats {
        RedisStats {
            scripts_sent: self.scripts_sent.load(Ordering::Relaxed),
            acks_short: self.acks_short.load(Ordering::Relaxed),
            losses,
        }
    }
}
