//! When to renew a lease, and when to stop.

use std::time::Duration;

/// A lease as its owner sees it: on a local monotonic clock, counted from when it was asked for.
///
/// All moments are durations since the claim was asked for. Counting from *before* the request
/// was sent makes the owner's deadline earlier than the store's, never later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// How long each grant lasts.
    pub length: Duration,
    /// When the last renewal may end at the latest. A first grant that is longer than that is not
    /// cut; it is just not renewed.
    pub cap: Duration,
}

/// No lease, however short, is renewed more often.
const LEAST: Duration = Duration::from_millis(1);

/// What an owner does next about its lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseStep {
    /// Renew it at this moment.
    RenewAt(Duration),
    /// Renew it no more: the cap is reached. It ends at this moment.
    EndsAt(Duration),
}

impl Lease {
    /// What to do after a grant that was asked for at `granted`: renew after a third of its
    /// length, so that two renewals may fail before it ends, and never so that it would last
    /// beyond the cap.
    #[must_use]
    pub fn after_grant(&self, granted: Duration) -> LeaseStep {
        self.renew_or_end(granted, granted.saturating_add((self.length / 3).max(LEAST)))
    }

    /// What to do after a renewal that was tried at `tried` and failed, of a grant asked for at
    /// `granted`: try again soon, until the lease has ended, and under the same cap.
    #[must_use]
    pub fn after_failure(&self, granted: Duration, tried: Duration) -> LeaseStep {
        self.renew_or_end(granted, tried.saturating_add((self.length / 12).max(LEAST)))
    }

    fn renew_or_end(&self, granted: Duration, renew: Duration) -> LeaseStep {
        let ends = granted.saturating_add(self.length);
        if renew < ends && renew.saturating_add(self.length) <= self.cap {
            LeaseStep::RenewAt(renew)
        } else {
            LeaseStep::EndsAt(ends)
        }
    }
}
