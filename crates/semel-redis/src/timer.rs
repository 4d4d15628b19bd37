//! The only place in this crate that waits or looks at a clock. Both are for patience alone: no
//! decision about an entry is ever taken here.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) use tokio::time::Instant;

/// Now, on a clock that only goes forward.
#[expect(clippy::disallowed_methods, reason = "the crate's own timer module")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Comes back after `by`.
#[expect(clippy::disallowed_methods, reason = "the crate's own timer module")]
pub(crate) async fn pass(by: Duration) {
    tokio::time::sleep(by).await;
}

/// The result of `work`, unless it takes until `deadline`.
#[expect(clippy::disallowed_methods, reason = "the crate's own timer module")]
pub(crate) async fn by<T>(deadline: Instant, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout_at(deadline, work).await.ok()
}

/// This machine's wall clock, in microseconds since 1970: only to be shown beside the server's.
#[expect(clippy::disallowed_methods, reason = "a preflight compares two clocks for people")]
pub(crate) fn wall_clock_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
