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
    /// The longest time over all renewals.
    pub cap: Duration,
}

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
        let renew = granted.saturating_add(self.length / 3);
        if renew.saturating_add(self.length) <= self.cap {
            LeaseStep::RenewAt(renew)
        } else {
            LeaseStep::EndsAt(granted.saturating_add(self.length))
        }
    }

    /// What to do after a renewal that was tried at `tried` and failed, of a grant asked for at
    /// `granted`: try again soon, until the lease has ended.
    #[must_use]
    pub fn after_failure(&self, granted: Duration, tried: Duration) -> LeaseStep {
        let ends = granted.saturating_add(self.length);
        let again = tried.saturating_add(self.length / 12);
        if again < ends { LeaseStep::RenewAt(again) } else { LeaseStep::EndsAt(ends) }
    }
}
