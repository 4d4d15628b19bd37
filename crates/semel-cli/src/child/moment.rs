//! Moments that the processes of one machine share, and that go on while it sleeps.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Time since the machine was started, its sleep included where the system counts that (Linux).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(Duration);

#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

impl Moment {
    pub(super) fn now() -> Self {
        let time = clock_gettime(CLOCK);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
        Self(Duration::new(seconds, nanos))
    }

    /// The moment so much later.
    pub(super) fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }

    /// The moment so much earlier.
    pub(super) fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time))
    }

    /// What is left until it is there: zero when it is past.
    pub(super) fn left(self) -> Duration {
        self.0.saturating_sub(Self::now().0)
    }

    /// What has passed since: zero when it is still to come.
    pub(super) fn passed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }

    pub(super) fn is_past(self) -> bool {
        self <= Self::now()
    }

    /// As a system call takes it.
    pub(super) fn timespec(self) -> Timespec {
        Timespec {
            tv_sec: i64::try_from(self.0.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: self.0.subsec_nanos().into(),
        }
    }
}

/// In nanoseconds, as one process tells another.
impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_nanos().fmt(out)
    }
}

impl FromStr for Moment {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(|nanos| Self(Duration::from_nanos(nanos)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back() {
        let now = Moment::now();
        assert_eq!(now.to_string().parse(), Ok(now));
    }

    #[test]
    fn it_goes_forward() {
        let hour = Duration::from_secs(3_600);
        let now = Moment::now();
        assert!(now.is_past() && now.left().is_zero());
        assert!(!now.after(hour).is_past());
        assert!(now.after(hour).left() > hour - Duration::from_secs(60));
        assert_eq!(now.after(hour).before(hour), now);
    }
}
