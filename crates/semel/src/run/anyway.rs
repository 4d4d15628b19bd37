//! Finishing what was begun even if nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// Runs to its end even if its caller goes away: the rest of it moves to the background, where a
/// graceful shutdown waits for it.
pub(crate) struct FinishAnyway<F: Future + Send + 'static> {
    work: Option<Pin<Box<F>>>,
    tasks: TaskTracker,
}

impl<F: Future + Send + 'static> FinishAnyway<F> {
    pub(crate) fn new(tasks: &TaskTracker, work: F) -> Self {
        Self { work: Some(Box::pin(work)), tasks: tasks.clone() }
    }
}

impl<F: Future + Send + 'static> Future for FinishAnyway<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let work = self.work.as_mut().expect("not polled again after its end");
        let output = ready!(work.as_mut().poll(cx));
        self.work = None;
        Poll::Ready(output)
    }
}

impl<F: Future + Send + 'static> Drop for FinishAnyway<F> {
    fn drop(&mut self) {
        // Without a runtime, or in one that is shutting down, nothing can go on. The claim then
        // runs out, and what was not recorded is in doubt.
        if let Some(rest) = self.work.take()
            && let Ok(runtime) = Handle::try_current()
        {
            self.tasks.spawn_on(async move { drop(rest.await) }, &runtime);
        }
    }
}
