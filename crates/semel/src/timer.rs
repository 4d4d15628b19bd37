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

/// How long this machine has been suspended since it started, where the system says so (Linux).
///
/// The monotonic clock stands still meanwhile, and the clocks of stores go on. What is judged by
/// [`now`] alone would be taken for held after a sleep of an hour.
pub(crate) fn suspended() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = |id| Duration::try_from(clock_gettime(id)).unwrap_or_default();
        // The order makes the difference too large, if at all: on the safe side.
        let running = time(ClockId::Monotonic);
        time(ClockId::Boottime).saturating_sub(running)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
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
