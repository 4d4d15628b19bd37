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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn any_lease() -> impl Strategy<Value = Lease> {
        let usual = (1..600_000_u64, 0..7_200_000_u64).prop_map(|(length, cap)| Lease {
            length: Duration::from_millis(length),
            cap: Duration::from_millis(cap),
        });
        let ends = || prop_oneof![Just(Duration::ZERO), Just(Duration::MAX), any::<Duration>()];
        let tiny = (0..30_u64)
            .prop_map(|ms| Lease { length: Duration::from_millis(ms), cap: secs(2_000_000) });
        prop_oneof![usual, tiny, (ends(), ends()).prop_map(|(length, cap)| Lease { length, cap })]
    }

    /// Follows a lease through its renewals, of which every `fails`-th fails, and gives the moment
    /// at which it ends and how many steps that took.
    fn followed(lease: Lease, fails: usize) -> (Duration, usize) {
        let mut granted = Duration::ZERO;
        let mut step = lease.after_grant(granted);
        for steps in 1..100_000 {
            step = match step {
                LeaseStep::EndsAt(end) => return (end, steps),
                LeaseStep::RenewAt(tried) if steps % fails == 0 => {
                    lease.after_failure(granted, tried)
                }
                LeaseStep::RenewAt(at) => {
                    granted = at;
                    lease.after_grant(at)
                }
            };
        }
        panic!("{lease:?} is renewed without end");
    }

    #[test]
    fn a_lease_is_renewed_at_a_third_of_it_until_the_cap() {
        let lease = Lease { length: secs(60), cap: secs(100) };
        assert_eq!(lease.after_grant(secs(0)), LeaseStep::RenewAt(secs(20)));
        assert_eq!(lease.after_grant(secs(20)), LeaseStep::RenewAt(secs(40)));
        assert_eq!(lease.after_grant(secs(40)), LeaseStep::EndsAt(secs(100)));
    }

    #[test]
    fn a_renewal_that_failed_is_tried_again_until_the_lease_has_ended() {
        let lease = Lease { length: secs(60), cap: secs(3600) };
        assert_eq!(lease.after_failure(secs(0), secs(20)), LeaseStep::RenewAt(secs(25)));
        assert_eq!(lease.after_failure(secs(0), secs(54)), LeaseStep::RenewAt(secs(59)));
        assert_eq!(lease.after_failure(secs(0), secs(55)), LeaseStep::EndsAt(secs(60)));
        assert_eq!(lease.after_failure(secs(0), secs(500)), LeaseStep::EndsAt(secs(60)));
    }

    /// It used to be tried again without a look at the cap.
    #[test]
    fn a_renewal_that_failed_is_not_tried_again_beyond_the_cap() {
        let lease = Lease { length: secs(60), cap: secs(80) };
        assert_eq!(lease.after_grant(secs(0)), LeaseStep::RenewAt(secs(20)));
        assert_eq!(lease.after_failure(secs(0), secs(20)), LeaseStep::EndsAt(secs(60)));
    }

    #[test]
    fn a_tiny_lease_is_not_renewed_more_often_than_each_millisecond() {
        let ms = Duration::from_millis;
        let lease = Lease { length: ms(6), cap: secs(1) };
        assert_eq!(lease.after_failure(ms(0), ms(2)), LeaseStep::RenewAt(ms(3)));
        let lease = Lease { length: ms(2), cap: secs(1) };
        assert_eq!(lease.after_grant(ms(0)), LeaseStep::RenewAt(ms(1)));
        let lease = Lease { length: ms(1), cap: secs(1) };
        assert_eq!(lease.after_grant(ms(0)), LeaseStep::EndsAt(ms(1)));
    }

    #[test]
    fn two_renewals_may_fail_before_the_lease_ends() {
        let lease = Lease { length: secs(60), cap: secs(3600) };
        let LeaseStep::RenewAt(first) = lease.after_grant(secs(0)) else { panic!("not renewed") };
        let LeaseStep::RenewAt(second) = lease.after_failure(secs(0), first) else {
            panic!("given up after one failure")
        };
        assert!(matches!(lease.after_failure(secs(0), second), LeaseStep::RenewAt(_)));
    }

    proptest! {
        #[test]
        fn a_renewal_comes_after_the_last_one_and_before_the_lease_ends(
            lease in any_lease(),
            granted in 0..1_000_000_u64,
            later in prop_oneof![0..30_u64, 0..1_000_000_u64],
        ) {
            let granted = Duration::from_millis(granted);
            let tried = granted + Duration::from_millis(later);
            let ends = granted.saturating_add(lease.length);
            for (step, from) in
                [(lease.after_grant(granted), granted), (lease.after_failure(granted, tried), tried)]
            {
                match step {
                    LeaseStep::RenewAt(at) => {
                        prop_assert!(from + LEAST <= at && at < ends, "{from:?} {at:?} {ends:?}");
                        prop_assert!(at.saturating_add(lease.length) <= lease.cap);
                    }
                    LeaseStep::EndsAt(at) => prop_assert_eq!(at, ends),
                }
            }
        }

        #[test]
        fn a_lease_comes_to_its_end_no_later_than_the_cap(
            length in prop_oneof![1..30_u64, 1..60_000_u64], cap in 0..600_000_u64,
            fails in 2..5_usize,
        ) {
            let length = Duration::from_millis(length);
            let cap = Duration::from_millis(cap).min(length * 50);
            let (end, _) = followed(Lease { length, cap }, fails);
            prop_assert!(end <= cap.max(length), "{end:?}");
            // And the cap is made use of: what is left is less than one renewal would have given.
            // One that ends within the least time is never renewed, whatever the cap.
            let (end, _) = followed(Lease { length, cap }, usize::MAX);
            let left = if length > LEAST { length / 3 + LEAST } else { Duration::MAX };
            prop_assert!(cap < end.saturating_add(left), "{end:?} of {cap:?}");
        }

        #[test]
        fn a_longer_cap_never_ends_a_lease_sooner(
            length in prop_oneof![1..30_u64, 1..60_000_u64], cap in 0..600_000_u64,
            more in 0..600_000_u64,
        ) {
            let length = Duration::from_millis(length);
            let [cap, more] = [cap, more].map(|ms| Duration::from_millis(ms).min(length * 20));
            let short = followed(Lease { length, cap }, usize::MAX).0;
            let long = followed(Lease { length, cap: cap + more }, usize::MAX).0;
            prop_assert!(short <= long, "{short:?} {long:?}");
        }
    }
}
