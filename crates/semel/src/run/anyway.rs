//! Finishing what was begun even if nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Runs to its end even if its caller goes away: the rest of it moves to the background, where a
/// graceful shutdown waits for it.
///
/// It runs where it is waited for, which costs no task, and keeps what belongs to that task. For
/// doors that are built on [`Once::begin`](crate::Once::begin) and have to record what was begun.
///
/// # Panics
///
/// When it is polled again after its end. What panics within it must be caught within it: a future
/// that panicked can't go on elsewhere.
///
/// # Cancel safety
///
/// Dropped before its end, the rest of it goes on in the background. Without a runtime, or in one
/// that is shutting down, nothing can go on: the claim then runs out.
#[must_use = "nothing runs before it is polled; but dropped it goes on in the background"]
pub struct FinishAnyway<F: Future + Send + 'static> {
    work: Option<Pin<Box<F>>>,
    tasks: TaskTracker,
    _counted: TaskTrackerToken,
}

impl<F: Future + Send + 'static> FinishAnyway<F> {
    /// Work whose rest goes on in `tasks`, those of [`Once::tasks`](crate::Once::tasks), which
    /// count it from here on.
    pub fn new(tasks: &TaskTracker, work: F) -> Self {
        Self { work: Some(Box::pin(work)), tasks: tasks.clone(), _counted: tasks.token() }
    }
}

impl<F: Future + Send + 'static> std::fmt::Debug for FinishAnyway<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FinishAnyway").finish_non_exhaustive()
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
