//! The other half of fencing: a gate refuses a fence that is smaller than one it has seen.

use crate::fence::Fence;

/// What a gate says to a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passage {
    /// It is the highest so far: it passes, once it is remembered.
    Remember,
    /// It is the one that was seen last: it passes.
    Pass,
    /// A higher one was seen: its lock is another's now.
    Refuse {
        /// The highest so far.
        seen: Fence,
    },
}

/// Judges a fence by the highest that the gate has seen, if it has seen any.
#[must_use]
pub const fn judge(seen: Option<Fence>, shown: Fence) -> Passage {
    match seen {
        Some(seen) if shown.get() < seen.get() => Passage::Refuse { seen },
        Some(seen) if shown.get() == seen.get() => Passage::Pass,
        _ => Passage::Remember,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_smaller_than_the_highest_is_refused() {
        let fence = Fence::new;
        assert_eq!(judge(None, fence(0)), Passage::Remember);
        assert_eq!(judge(Some(fence(7)), fence(8)), Passage::Remember);
        assert_eq!(judge(Some(fence(7)), fence(7)), Passage::Pass);
        assert_eq!(judge(Some(fence(7)), fence(6)), Passage::Refuse { seen: fence(7) });
        assert_eq!(
            judge(Some(fence(u64::MAX)), fence(0)),
            Passage::Refuse { seen: fence(u64::MAX) }
        );
    }
}
