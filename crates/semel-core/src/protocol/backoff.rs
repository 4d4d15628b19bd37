//! How long to wait before the next try.

use std::time::Duration;

/// Waits that double from `first` up to `most`, each cut down by up to half at random, so that
/// many who failed together do not come back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait.
    pub first: Duration,
    /// The longest wait.
    pub most: Duration,
}

impl Backoff {
    /// The wait before try `tries` + 1, where `dice` is any random number: between half of the
    /// doubled wait and all of it.
    #[must_use]
    pub fn wait(&self, tries: u32, dice: u32) -> Duration {
        let doubled = self.first.saturating_mul(1_u32.checked_shl(tries.min(20)).unwrap_or(1));
        let full = doubled.min(self.most);
        // dice / 2^32 of the half.
        let cut = (full / 2).as_nanos().saturating_mul(u128::from(dice)) >> 32;
        full.saturating_sub(Duration::from_nanos(u64::try_from(cut).unwrap_or(u64::MAX)))
    }
}
