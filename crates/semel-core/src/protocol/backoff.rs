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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_backoff() -> impl Strategy<Value = Backoff> {
        let lengths = || prop_oneof![Just(Duration::ZERO), Just(Duration::MAX), any::<Duration>()];
        let usual = (1..5_000_u64, 1..120_000_u64).prop_map(|(first, most)| Backoff {
            first: Duration::from_millis(first),
            most: Duration::from_millis(most),
        });
        prop_oneof![usual, (lengths(), lengths()).prop_map(|(first, most)| Backoff { first, most })]
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let backoff =
            Backoff { first: Duration::from_millis(100), most: Duration::from_millis(1500) };
        let waits = [0, 1, 2, 3, 4, 5, u32::MAX].map(|tries| backoff.wait(tries, 0).as_millis());
        assert_eq!(waits, [100, 200, 400, 800, 1500, 1500, 1500]);
    }

    #[test]
    fn the_longest_is_reached_from_a_first_wait_that_is_tiny() {
        let backoff = Backoff { first: Duration::from_micros(10), most: Duration::from_secs(3600) };
        assert_eq!(backoff.wait(u32::MAX, 0), Duration::from_secs(3600));
    }

    proptest! {
        #[test]
        fn no_wait_is_nothing_or_longer_than_the_longest(
            backoff in any_backoff(), tries in any::<u32>(), dice in any::<u32>(),
        ) {
            let wait = backoff.wait(tries, dice);
            prop_assert!(Backoff::LEAST <= wait && wait <= backoff.most.max(Backoff::LEAST));
        }

        #[test]
        fn more_tries_never_wait_less(
            backoff in any_backoff(), tries in 0..40_u32, dice in any::<u32>(),
        ) {
            prop_assert!(backoff.wait(tries, dice) <= backoff.wait(tries + 1, dice));
        }

        #[test]
        fn the_dice_cut_off_half_at_most(
            backoff in any_backoff(), tries in 0..40_u32, dice in any::<u32>(),
        ) {
            let (cut, full) = (backoff.wait(tries, dice), backoff.wait(tries, 0));
            prop_assert!(full / 2 <= cut && cut <= full, "{cut:?} of {full:?}");
        }

        #[test]
        fn different_dice_part_those_who_failed_together(tries in 0..20_u32, dice in any::<u32>()) {
            let backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(60) };
            prop_assert_ne!(backoff.wait(tries, dice), backoff.wait(tries, dice ^ (1 << 31)));
        }
    }
}
