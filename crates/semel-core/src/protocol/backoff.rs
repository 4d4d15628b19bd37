//! How long to wait before the next try.

use std::time::Duration;

/// Waits that double from `first` up to `most`, each cut down by up to half at random, so that
/// many who failed together do not come back together. None is shorter than [`Backoff::LEAST`]:
/// nobody spins, whatever was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait.
    pub first: Duration,
    /// The longest wait.
    pub most: Duration,
}

impl Backoff {
    /// The shortest wait there is.
    pub const LEAST: Duration = Duration::from_millis(1);

    /// The wait before the next try, `tries` of which have followed the first one already, where
    /// `dice` is any random number: between half of the doubled wait and all of it.
    #[must_use]
    pub fn wait(&self, tries: u32, dice: u32) -> Duration {
        let doubled = self.first.saturating_mul(1_u32.checked_shl(tries.min(31)).unwrap_or(1));
        let full = doubled.min(self.most);
        // dice / 2^32 of the half.
        let cut = (full / 2).as_nanos().saturating_mul(u128::from(dice)) >> 32;
        let wait =
            full.saturating_sub(Duration::from_nanos(u64::try_from(cut).unwrap_or(u64::MAX)));
        wait.max(Self::LEAST)
    }
}
