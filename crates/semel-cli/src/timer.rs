//! The waits of this program.

use std::future::Future;
use std::time::Duration;
pub(crate) use tokio::time::error::Elapsed;

/// Waits for `time`.
#[expect(clippy::disallowed_methods, reason = "the one place of this program that waits")]
pub(crate) async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Runs `work` for at most `time`.
#[expect(clippy::disallowed_methods, reason = "the one place of this program that waits")]
pub(crate) async fn within<F: Future>(time: Duration, work: F) -> Result<F::Output, Elapsed> {
    tokio::time::timeout(time, work).await
}
