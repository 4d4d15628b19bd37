//! Waiting in tests: on a condition where there is one, and always with an end.

use std::future::Future;
use std::time::Duration;

use crate::error::{TestkitError, TestkitResult};

/// How often a condition is looked at.
const PACE: Duration = Duration::from_millis(5);

/// Comes back after `by`. For tests in which real time itself is the condition: a lease of a real
/// server that has to end.
#[expect(clippy::disallowed_methods, reason = "real servers live in real time")]
pub async fn pass(by: Duration) {
    tokio::time::sleep(by).await;
}

/// The result of `work`, or an error that names it.
///
/// # Errors
///
/// [`TestkitError::TooLate`] when it takes longer than `limit`.
#[expect(clippy::disallowed_methods, reason = "real servers live in real time")]
pub async fn within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = T>,
) -> TestkitResult<T> {
    tokio::time::timeout(limit, work)
        .await
        .map_err(|_| TestkitError::TooLate { what: what.to_owned(), seconds: limit.as_secs_f32() })
}

/// Looks at a condition until it gives something.
///
/// # Errors
///
/// [`TestkitError::TooLate`] when it gave nothing for as long as `limit`.
pub async fn eventually<T, F>(
    limit: Duration,
    what: &str,
    mut look: impl FnMut() -> F,
) -> TestkitResult<T>
where
    F: Future<Output = Option<T>>,
{
    within(limit, what, async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            pass(PACE).await;
        }
    })
    .await
}
