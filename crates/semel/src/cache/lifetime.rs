//! How long a value is cached: checked before anything is asked of a store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use semel_core::{Renewal, Ttl, TtlError};

use crate::timer;

/// How long a value is cached.
///
/// An end ([`of`](Self::of), [`until`](Self::until)) is never passed; where there are several, the
/// earliest counts. A sliding lifetime is counted anew from each read. A value that has both ends
/// when it was not read for that long, or at its end, whichever is first. [`Lifetime::default`] says
/// neither: the cache's default counts then.
///
/// ```
/// use std::time::Duration;
/// use semel::cache::Lifetime;
///
/// let twenty_minutes = Duration::from_secs(1_200);
/// let day = Duration::from_secs(86_400);
/// let basket = Lifetime::sliding(twenty_minutes).at_most(day);
/// # let _ = basket;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use = "it is given to the cache with a value"]
pub struct Lifetime {
    of: Option<Duration>,
    until: Option<SystemTime>,
    sliding: Option<Duration>,
}

impl Lifetime {
    const UNSAID: Self = Self { of: None, until: None, sliding: None };

    /// This long, from when the store writes it.
    pub const fn of(time: Duration) -> Self {
        Self { of: Some(time), ..Self::UNSAID }
    }

    /// Until this moment. It is turned into a duration once, by this machine's clock, when the value
    /// is given to the cache; from there on only the store's clock counts.
    pub const fn until(end: SystemTime) -> Self {
        Self { until: Some(end), ..Self::UNSAID }
    }

    /// This long from the last read, or from the write.
    pub const fn sliding(time: Duration) -> Self {
        Self { sliding: Some(time), ..Self::UNSAID }
    }

    /// This one, and no longer than this from the write.
    pub fn at_most(self, time: Duration) -> Self {
        Self { of: Some(self.of.map_or(time, |of| of.min(time))), ..self }
    }

    /// This one, and not beyond this moment.
    pub fn not_after(self, end: SystemTime) -> Self {
        Self { until: Some(self.until.map_or(end, |until| until.min(end))), ..self }
    }

    /// What is asked of a store for it.
    pub(super) fn checked(self, default: Ttl) -> Result<Terms, LifetimeError> {
        let of = self.of.map(|of| positive("time to live", of)).transpose()?;
        let until = self.until.map(until_now).transpose()?;
        let end = of.into_iter().chain(until).min();
        let sliding =
            self.sliding.map(|time| positive("sliding time to live", time)).transpose()?;
        Ok(match (sliding, end) {
            (Some(sliding), Some(end)) => {
                Terms { lease: sliding.min(end), keep: end, renewal: Renewal::Lease(sliding) }
            }
            (Some(sliding), None) => {
                Terms { lease: sliding, keep: sliding, renewal: Renewal::Keep(sliding) }
            }
            (None, end) => {
                let keep = end.unwrap_or(default);
                Terms { lease: keep, keep, renewal: Renewal::Never }
            }
        })
    }
}

impl From<Duration> for Lifetime {
    /// [`Lifetime::of`].
    fn from(time: Duration) -> Self {
        Self::of(time)
    }
}

impl From<SystemTime> for Lifetime {
    /// [`Lifetime::until`].
    fn from(end: SystemTime) -> Self {
        Self::until(end)
    }
}

/// A lifetime as a store takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) lease: Ttl,
    pub(super) keep: Ttl,
    pub(super) renewal: Renewal,
}

fn positive(setting: &'static str, time: Duration) -> Result<Ttl, LifetimeError> {
    Ttl::positive(time).map_err(|fault| LifetimeError::Duration { setting, fault })
}

/// What is left until a moment: the one place where the wall clock is looked at.
fn until_now(end: SystemTime) -> Result<Ttl, LifetimeError> {
    let end = end.duration_since(UNIX_EPOCH).map_err(|_| LifetimeError::Past)?;
    let left = end.saturating_sub(timer::unix_time());
    if left.is_zero() {
        return Err(LifetimeError::Past);
    }
    positive("end", left)
}

/// Why a lifetime is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LifetimeError {
    /// A duration of zero, or one longer than ten years; or an end more than ten years away.
    #[error("the {setting} of a cached value: {fault}")]
    Duration {
        /// Which.
        setting: &'static str,
        /// What is wrong with it.
        #[source]
        fault: TtlError,
    },
    /// An end that is now or has passed.
    #[error("the end of a cached value has passed already; it must be in the future")]
    Past,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Ttl = Ttl::from_micros(300_000_000).unwrap();

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ttl(seconds: u64) -> Ttl {
        Ttl::new(secs(seconds)).unwrap()
    }

    fn in_secs(seconds: u64) -> SystemTime {
        UNIX_EPOCH + timer::unix_time() + secs(seconds)
    }

    fn checked(lifetime: impl Into<Lifetime>) -> Result<Terms, LifetimeError> {
        lifetime.into().checked(DEFAULT)
    }

    #[test]
    fn what_says_nothing_lives_for_the_default_and_not_for_ever() {
        let terms = checked(Lifetime::default()).unwrap();
        assert_eq!(terms, Terms { lease: DEFAULT, keep: DEFAULT, renewal: Renewal::Never });
    }

    #[test]
    fn of_several_ends_the_earliest_counts() {
        let minute = Terms { lease: ttl(60), keep: ttl(60), renewal: Renewal::Never };
        for lifetime in [
            Lifetime::of(secs(60)),
            Lifetime::of(secs(60)).at_most(secs(61)),
            Lifetime::of(secs(61)).at_most(secs(60)),
            Lifetime::of(secs(60)).not_after(in_secs(3_600)),
            Lifetime::until(in_secs(3_600)).at_most(secs(60)),
        ] {
            assert_eq!(checked(lifetime).unwrap(), minute, "{lifetime:?}");
        }
        for lifetime in [
            Lifetime::until(in_secs(60)),
            Lifetime::of(secs(3_600)).not_after(in_secs(60)),
            Lifetime::until(in_secs(3_600)).not_after(in_secs(60)),
            Lifetime::until(in_secs(60)).not_after(in_secs(3_600)),
        ] {
            let keep = checked(lifetime).unwrap().keep;
            assert!(keep <= ttl(60) && keep > ttl(50), "{lifetime:?}: {keep:?}");
        }
    }

    #[test]
    fn a_sliding_lifetime_never_asks_for_more_than_its_end() {
        let hour = Lifetime::sliding(secs(60)).at_most(secs(3_600));
        let terms = Terms { lease: ttl(60), keep: ttl(3_600), renewal: Renewal::Lease(ttl(60)) };
        assert_eq!(checked(hour).unwrap(), terms);
        let short = Lifetime::sliding(secs(3_600)).at_most(secs(60));
        let terms = Terms { lease: ttl(60), keep: ttl(60), renewal: Renewal::Lease(ttl(3_600)) };
        assert_eq!(checked(short).unwrap(), terms);
        // Without an end it takes no room for longer than it lives.
        let terms = Terms { lease: ttl(60), keep: ttl(60), renewal: Renewal::Keep(ttl(60)) };
        assert_eq!(checked(Lifetime::sliding(secs(60))).unwrap(), terms);
    }

    #[test]
    fn what_is_over_or_endless_is_refused() {
        let year = secs(31_557_600);
        for past in [UNIX_EPOCH, UNIX_EPOCH - secs(1), UNIX_EPOCH + timer::unix_time()] {
            assert_eq!(checked(past), Err(LifetimeError::Past), "{past:?}");
            assert_eq!(checked(Lifetime::of(year).not_after(past)), Err(LifetimeError::Past));
        }
        for (lifetime, fault) in [
            (Lifetime::of(Duration::ZERO), TtlError::Zero),
            (Lifetime::of(year).at_most(Duration::ZERO), TtlError::Zero),
            (Lifetime::sliding(Duration::ZERO), TtlError::Zero),
            (Lifetime::of(year * 11), TtlError::TooLong),
            (Lifetime::of(Duration::MAX), TtlError::TooLong),
            (Lifetime::sliding(Duration::MAX).at_most(year), TtlError::TooLong),
            (Lifetime::until(UNIX_EPOCH + timer::unix_time() + year * 11), TtlError::TooLong),
        ] {
            let error = checked(lifetime).unwrap_err();
            assert!(
                matches!(error, LifetimeError::Duration { fault: got, .. } if got == fault),
                "{lifetime:?}: {error}"
            );
        }
    }
}
