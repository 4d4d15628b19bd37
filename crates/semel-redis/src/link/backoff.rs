//! How long to wait before the next attempt to connect.

use std::time::Duration;

/// The first attempts come soon, later ones up to two seconds apart, and those of many processes
/// at different moments.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failed: u32,
}

const FIRST_MS: u64 = 10;
const LONGEST_MS: u64 = 2_000;

impl Backoff {
    pub(crate) const fn reset(&mut self) {
        self.failed = 0;
    }

    /// From half of the bound up to the bound, which doubles with each attempt.
    pub(crate) fn next(&mut self) -> Duration {
        let bound = (FIRST_MS << self.failed.min(10)).min(LONGEST_MS);
        self.failed = self.failed.saturating_add(1);
        Duration::from_millis(rand::random_range(bound / 2..=bound))
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, Duration};

    #[test]
    fn waits_grow_to_a_bound_and_begin_anew_after_a_reset() {
        let mut backoff = Backoff::default();
        assert!(backoff.next() <= Duration::from_millis(10));
        for _ in 0..20 {
            assert!(backoff.next() <= Duration::from_secs(2));
        }
        assert!(backoff.next() >= Duration::from_secs(1));
        backoff.reset();
        assert!(backoff.next() <= Duration::from_millis(10));
    }
}
