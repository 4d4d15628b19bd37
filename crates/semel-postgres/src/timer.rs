//! This crate's only clock: for limits on waiting. What is judged is judged by the server's.

use std::future::Future;
use std::time::Duration;

use rand::RngExt;
use tokio::time::Instant;

#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The result of `work`, or none when it takes longer than `limit`.
#[expect(clippy::disallowed_methods, reason = "the one place that waits")]
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

#[expect(clippy::disallowed_methods, reason = "the one place that waits")]
pub(crate) async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Something between half of `time` and one and a half of it.
pub(crate) fn jittered(time: Duration) -> Duration {
    time.mul_f64(rand::rng().random_range(0.5..1.5))
}
