//! A limit in real time that needs no runtime: cases wait for hints, which may never come.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use event_listener::Event;
use futures_util::future::{Either, select};

/// Waits for `work`, and panics with `what` when it takes longer than `limit`.
pub(super) async fn within<T>(limit: Duration, what: &str, work: impl Future<Output = T>) -> T {
    let alarm = Arc::new(Event::new());
    let rung = alarm.listen();
    let (done, waiting) = channel::<()>();
    // The thread ends with the channel, as soon as the work does.
    let watch = thread::Builder::new().name("conformance-watchdog".into()).spawn(move || {
        if waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            alarm.notify(usize::MAX);
        }
    });
    watch.expect("a thread for the watchdog");
    match select(pin!(work), rung).await {
        Either::Left((result, _)) => {
            drop(done);
            result
        }
        Either::Right(_) => panic!("{what}: not within {limit:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, within};

    #[tokio::test]
    async fn work_that_ends_gives_its_result() {
        assert_eq!(within(Duration::from_secs(60), "work", async { 7 }).await, 7);
    }

    #[tokio::test]
    #[should_panic(expected = "a hint: not within 5ms")]
    async fn work_that_never_ends_panics_with_its_name() {
        let never = std::future::pending::<()>();
        within(Duration::from_millis(5), "a hint", never).await;
    }
}
