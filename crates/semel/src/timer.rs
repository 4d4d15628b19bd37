//! The only clock: every wait, timeout and local deadline goes through here.
//!
//! It stands on tokio's clock, so that a test can pause it (`#[tokio::test(start_paused = true)]`)
//! and hours pass in no time.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use semel_core::{Clock, StoreTime, Ttl};
use tokio::time::Instant;

/// A moment on this process's monotonic clock.
#[expect(clippy::disallowed_methods, reason = "this is the timer")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A moment on a clock that goes on while the machine is suspended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    at: Instant,
    suspended: Duration,
}

impl Moment {
    /// Now.
    pub(crate) fn now() -> Self {
        Self { at: now(), suspended: suspended() }
    }

    /// This moment on the monotonic clock.
    pub(crate) const fn instant(self) -> Instant {
        self.at
    }

    /// How long after another moment this one is; zero when it is before it.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        // The difference of two clocks that are read one after the other is never exact; nothing
        // sleeps so short.
        let asleep = self.suspended.saturating_sub(earlier.suspended);
        let asleep = if asleep < Duration::from_millis(10) { Duration::ZERO } else { asleep };
        self.at.saturating_duration_since(earlier.at) + asleep
    }

    /// How long ago it was.
    pub(crate) fn elapsed(self) -> Duration {
        Self::now().since(self)
    }
}

/// How long this machine has been suspended since it started, where the system says so (Linux).
///
/// The monotonic clock stands still meanwhile, and the clocks of stores go on: by [`now`] alone a
/// lock would be taken for held after a sleep of an hour.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn suspended() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = |id| Duration::try_from(clock_gettime(id)).unwrap_or_default();
    let look = || {
        let before = time(ClockId::Monotonic);
        let boot = time(ClockId::Boottime);
        let took = time(ClockId::Monotonic).saturating_sub(before);
        (took, boot.saturating_sub(before))
    };
    // Who is interrupted between the looks sees too much: another try is likely not to be.
    let mut best = look();
    for _ in 0..3 {
        if best.0 < Duration::from_millis(1) {
            break;
        }
        best = best.min(look());
    }
    best.1
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
const fn suspended() -> Duration {
    Duration::ZERO
}

/// Waits this long.
///
/// # Panics
///
/// Outside a tokio runtime with time.
///
/// # Cancel safety
///
/// Dropped, it has changed nothing.
#[expect(clippy::disallowed_methods, reason = "this is the timer")]
pub async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Waits until this moment.
#[expect(clippy::disallowed_methods, reason = "this is the timer")]
pub(crate) async fn sleep_until(moment: Instant) {
    tokio::time::sleep_until(moment).await;
}

/// Waits for `work`, at most this long; none when the time was up first.
///
/// # Panics
///
/// Outside a tokio runtime with time, unless the work ends without waiting.
///
/// # Cancel safety
///
/// Dropped, or when the time is up, the work is dropped with it.
#[expect(clippy::disallowed_methods, reason = "this is the timer")]
pub async fn within<F: Future>(limit: Duration, work: F) -> Option<F::Output> {
    let mut work = pin!(work);
    // Work that need not wait needs no timer either, and setting one up is what costs.
    if let Poll::Ready(output) = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        return Some(output);
    }
    tokio::time::timeout(limit, work).await.ok()
}

/// The wall clock, for what a key says about its own age. Nothing is ever leased by it.
#[expect(clippy::disallowed_methods, reason = "this is the timer")]
pub fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The clock of a store that lives in this process: it starts at the wall clock's time and goes
/// on monotonically, whatever happens to the wall clock. Where tokio's time is paused, so is it.
#[derive(Debug)]
pub struct SystemClock {
    started_at: StoreTime,
    started: Instant,
}

impl SystemClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        let micros = u64::try_from(unix_time().as_micros()).unwrap_or(0);
        Self { started_at: StoreTime::from_micros(micros), started: now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> StoreTime {
        // More than ten years of uptime is where this would stand still.
        self.started_at.after(Ttl::new(now() - self.started).unwrap_or(Ttl::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F-152: what the monotonic clock does not count.
    #[test]
    fn time_goes_on_while_the_machine_is_suspended() {
        let asleep = Duration::from_secs(3_600);
        let before = Moment::now();
        let after = Moment { at: before.at, suspended: before.suspended + asleep };
        assert_eq!(after.since(before), asleep);
        // Two clocks that are read one after the other differ by a little without any sleep.
        let jitter = before.suspended + Duration::from_millis(9);
        assert_eq!(Moment { at: before.at, suspended: jitter }.since(before), Duration::ZERO);
        assert!(before.elapsed() < Duration::from_secs(60));
    }
}
