//! Waiting for a condition, and for nothing else.

use std::time::Duration;

/// Far more than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

/// Polls `condition` until it gives a value; fails, saying `what`, when patience is over.
pub(crate) async fn until<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let polled = async {
        loop {
            if let Some(value) = condition().await {
                return value;
            }
            pause(POLL).await;
        }
    };
    within(what, polled).await
}

/// Runs `work`; fails, saying `what`, when patience is over.
#[expect(clippy::disallowed_methods, reason = "a real process is watched from outside")]
pub(crate) async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(value) => value,
        Err(_) => panic!("not within {PATIENCE:?}: {what}"),
    }
}

/// A real pause, between two looks or where the passing of time is the matter itself.
#[expect(clippy::disallowed_methods, reason = "a real process is watched from outside")]
pub(crate) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
