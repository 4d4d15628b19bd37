//! Hints that told of nothing new, and how a watch keeps from running in circles after them.

use std::time::Duration;

use crate::timer;

/// Counts the hints in a row after which nothing had changed.
///
/// One change is often told more than once: by the process that made it and by the store, or again
/// after a reconnect. Whoever rests after the first echo sleeps through the next change; whoever
/// never rests runs in circles where hints come without end. So the first few cost a look and no
/// rest, and only then rests begin, and grow.
#[derive(Debug, Default)]
pub(crate) struct FalseHints {
    in_a_row: u32,
}

impl FalseHints {
    /// So many in a row are echoes.
    const ECHOES: u32 = 3;

    /// The longest rest.
    const MOST: Duration = Duration::from_millis(10);

    /// Rests after a look, where it is time to: `hinted` if a hint led to it, `changed` if it saw
    /// anything new.
    pub(crate) async fn rest(&mut self, hinted: bool, changed: bool) {
        let rest = self.due(hinted, changed);
        if !rest.is_zero() {
            timer::sleep(rest).await;
        }
    }

    fn due(&mut self, hinted: bool, changed: bool) -> Duration {
        if !hinted || changed {
            self.in_a_row = 0;
            return Duration::ZERO;
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let Some(beyond) = self.in_a_row.checked_sub(Self::ECHOES + 1) else {
            return Duration::ZERO;
        };
        Duration::from_millis(1 << beyond.min(10)).min(Self::MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_of_a_change_cost_no_rest() {
        let mut hints = FalseHints::default();
        for _ in 0..50 {
            assert_eq!(hints.due(true, true), Duration::ZERO);
            for _ in 0..FalseHints::ECHOES {
                assert_eq!(hints.due(true, false), Duration::ZERO);
            }
        }
    }

    #[test]
    fn hints_without_end_are_followed_ever_more_slowly() {
        let mut hints = FalseHints::default();
        let rests: Vec<_> = (0..10).map(|_| hints.due(true, false).as_millis()).collect();
        assert_eq!(rests, [0, 0, 0, 1, 2, 4, 8, 10, 10, 10]);
        for _ in 0..100 {
            assert_eq!(hints.due(true, false), FalseHints::MOST);
        }
    }

    #[test]
    fn a_change_or_a_poll_begins_the_count_anew() {
        for (hinted, changed) in [(true, true), (false, false), (false, true)] {
            let mut hints = FalseHints::default();
            (0..9).for_each(|_| {
                hints.due(true, false);
            });
            assert_eq!(hints.due(hinted, changed), Duration::ZERO);
            assert_eq!(hints.in_a_row, 0);
        }
    }
}
