//! Noticing that a server has lost its data.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tracing::error;

use crate::shard::{SHARDS, Shard};
use crate::timer::{Instant, now};

/// What this store has seen of the servers' data, so that it notices when that is gone: by a
/// restart, a fail-over to an empty server, or `FLUSHALL`.
#[derive(Debug)]
pub(crate) struct Losses {
    /// Shards in which it has written.
    known: Vec<AtomicBool>,
    /// The epochs that were read in some shards when connections were made.
    epochs: Mutex<HashMap<Shard, String>>,
    count: AtomicU64,
    pause: Duration,
    noticed: Mutex<Option<Instant>>,
}

/// A loss shows in one shard after the other: within this time they are one.
const ONE: Duration = Duration::from_secs(60);

impl Losses {
    pub(crate) fn new(pause: Duration) -> Self {
        Self {
            known: (0..SHARDS).map(|_| AtomicBool::new(false)).collect(),
            epochs: Mutex::default(),
            count: AtomicU64::new(0),
            pause,
            noticed: Mutex::new(None),
        }
    }

    /// A swap was won in a shard; `is_first` says that the server knew of none before.
    pub(crate) fn won(&self, shard: Shard, is_first: bool) {
        let Some(known) = self.known.get(shard.index()) else { return };
        // Mostly it is known and not the first: that costs one read.
        let known_before = known.load(Ordering::Relaxed) || known.swap(true, Ordering::Relaxed);
        if is_first && known_before {
            self.notice();
        }
    }

    /// A connection was made, and the server's epoch read.
    pub(crate) fn connected(&self, shard: Shard, epoch: &str) {
        let before = self.epochs.lock().insert(shard, epoch.to_owned());
        if before.is_some_and(|before| before != epoch) {
            self.notice();
        }
    }

    fn notice(&self) {
        let mut noticed = self.noticed.lock();
        if noticed.is_none_or(|before| now() > before + ONE) {
            self.count.fetch_add(1, Ordering::Relaxed);
            error!(
                "the server lost data that it had acknowledged: calls made before may run again"
            );
        }
        *noticed = Some(now());
    }

    /// How often the data was found to be lost.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether no claims are granted because of a loss.
    pub(crate) fn pauses(&self) -> bool {
        !self.pause.is_zero()
            && self.count() > 0
            && self.noticed.lock().is_some_and(|noticed| now() < noticed + self.pause)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Losses, ONE, Shard};
    use crate::timer::pass;

    #[tokio::test(start_paused = true)]
    async fn a_shard_that_begins_twice_has_lost_its_data() {
        let losses = Losses::new(Duration::ZERO);
        losses.won(Shard::first(), true);
        losses.won(Shard::first(), false);
        assert_eq!(losses.count(), 0, "a beginning is no loss");
        losses.won(Shard::first(), true);
        losses.won(Shard::first(), true);
        assert_eq!(losses.count(), 1, "a second one is, and one loss is told once");
        pass(ONE * 2).await;
        losses.won(Shard::first(), true);
        assert_eq!(losses.count(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn another_epoch_is_a_loss_and_pauses_claims() {
        let losses = Losses::new(Duration::from_secs(60));
        losses.connected(Shard::first(), "a");
        losses.connected(Shard::first(), "a");
        assert!(!losses.pauses());
        losses.connected(Shard::first(), "b");
        assert_eq!(losses.count(), 1);
        assert!(losses.pauses());
        pass(Duration::from_secs(60)).await;
        assert!(!losses.pauses());
    }
}
