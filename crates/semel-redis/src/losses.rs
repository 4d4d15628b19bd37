//! Noticing that a server has lost its data.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tracing::error;

use crate::shard::{SHARDS, Shard};
use crate::timer::{Instant, now};

/// When each shard began, as far as this store has seen. Another beginning than before: what was
/// in the shard is gone, be it by a restart, a fail-over, `FLUSHALL` or an older backup.
#[derive(Debug)]
pub(crate) struct Losses {
    born: Vec<AtomicU64>,
    count: AtomicU64,
    pause: Duration,
    paused_until: Mutex<Option<Instant>>,
}

impl Losses {
    pub(crate) fn new(pause: Duration) -> Self {
        let born = (0..SHARDS).map(|_| AtomicU64::new(0)).collect();
        Self { born, count: AtomicU64::new(0), pause, paused_until: Mutex::new(None) }
    }

    /// Takes note of when a shard began, by its server, and says whether that is another moment
    /// than before.
    pub(crate) fn note(&self, shard: Shard, born: u64) -> bool {
        let Some(known) = self.born.get(shard.index()) else { return false };
        if known.load(Ordering::Relaxed) == born {
            return false;
        }
        let before = known.swap(born, Ordering::Relaxed);
        if before == 0 || before == born {
            return false;
        }
        self.noticed();
        true
    }

    fn noticed(&self) {
        // One loss shows in many shards: it is told once.
        let mut paused_until = self.paused_until.lock();
        if self.count.fetch_add(1, Ordering::Relaxed) == 0
            || paused_until.is_none_or(|it| now() > it)
        {
            error!(
                "the server lost data that it had acknowledged: calls made before may run again"
            );
        }
        *paused_until = Some(now() + self.pause);
    }

    /// How many shards were found to have lost their data.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether no claims are granted because of a loss.
    pub(crate) fn pauses(&self) -> bool {
        !self.pause.is_zero()
            && self.count() > 0
            && self.paused_until.lock().is_some_and(|until| now() < until)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Losses, Shard};

    #[tokio::test(start_paused = true)]
    async fn a_shard_that_began_anew_has_lost_its_data_and_pauses_claims() {
        let losses = Losses::new(Duration::from_secs(60));
        assert!(!losses.note(Shard::first(), 7), "the first beginning is news to us only");
        assert!(!losses.note(Shard::first(), 7));
        assert!(!losses.pauses());
        assert!(losses.note(Shard::first(), 9), "another beginning is a loss");
        assert!(losses.pauses());
        assert_eq!(losses.count(), 1);
        crate::timer::pass(Duration::from_secs(60)).await;
        assert!(!losses.pauses());
    }
}
