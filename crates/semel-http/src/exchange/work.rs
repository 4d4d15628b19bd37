//! Work that outlives whoever waits for it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use semel::Once;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Work that runs where its answer is waited for, which costs no task and no change of threads.
/// Dropped before its end, the rest of it moves into a task of its own and goes on there; and it
/// can tell, because then the sender that it was given is closed.
///
/// Either way the engine counts it, so that a graceful shutdown waits for it.
pub(crate) struct Work<T> {
    work: Option<BoxFuture<'static, ()>>,
    answer: Option<oneshot::Receiver<T>>,
    tasks: TaskTracker,
    _counted: TaskTrackerToken,
}

impl<T> Work<T> {
    pub(super) fn new<F>(once: &Once, begin: impl FnOnce(oneshot::Sender<T>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (teller, answer) = oneshot::channel();
        let (work, tasks) = (Box::pin(begin(teller)), once.tasks().clone());
        Self { work: Some(work), answer: Some(answer), _counted: tasks.token(), tasks }
    }
}

impl<T> Future for Work<T> {
    /// None where the work told nothing.
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(work) = &mut self.work {
            ready!(work.as_mut().poll(cx));
            self.work = None;
        }
        Poll::Ready(self.answer.take().and_then(|mut answer| answer.try_recv().ok()))
    }
}

impl<T> Drop for Work<T> {
    fn drop(&mut self) {
        // First, so that the work can tell wherever it goes on.
        self.answer = None;
        // Outside of a runtime, or in one that is shutting down, nothing can go on.
        if let Some(rest) = self.work.take()
            && let Ok(runtime) = Handle::try_current()
        {
            self.tasks.spawn_on(rest, &runtime);
        }
    }
}
