//! A body that is recorded while it passes.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use semel::timer;
use tokio::runtime::Handle;

use super::poll_bytes;
use crate::recording::Recording;

/// A body and the recording of it.
///
/// Its end is held back until it is recorded: who saw all of it can replay it. If it is dropped
/// before its end (its reader is gone) the rest of it is read in the background, as a handler
/// runs on whose client hung up.
pub(crate) struct Followed<B> {
    body: Option<Pin<Box<B>>>,
    recording: Recording,
    /// The last frame, where it was known to be the last.
    held_back: Option<Frame<Bytes>>,
    /// [`read_on`] for this body: `Drop` can't name the bounds that it needs.
    read_on: fn(Pin<Box<B>>, Recording, &Handle),
}

impl<B> Followed<B>
where
    B: Body + Send + 'static,
{
    pub(crate) fn new(body: B, recording: Recording) -> Self {
        let body = Some(Box::pin(body));
        Self { body, recording, held_back: None, read_on: read_on::<B> }
    }
}

impl<B: Body> Followed<B> {
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        // Taken out for the time of the poll: a body that panics is not read on.
        if let Some(mut body) = self.body.take() {
            let Poll::Ready(frame) = poll_bytes(body.as_mut(), cx) else {
                self.body = Some(body);
                return Poll::Pending;
            };
            match frame {
                Some(Ok(frame)) => {
                    self.recording.saw(&frame);
                    if !body.is_end_stream() && !self.recording.saw_all_that_was_said() {
                        self.body = Some(body);
                        return Poll::Ready(Some(Ok(frame)));
                    }
                    // A server may ask for no more after this one.
                    self.held_back = Some(frame);
                }
                Some(Err(error)) => {
                    self.recording.broke_off();
                    return Poll::Ready(Some(Err(error)));
                }
                None => {}
            }
            self.recording.end();
        }
        ready!(self.recording.poll_written(cx));
        Poll::Ready(self.held_back.take().map(Ok))
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.body.is_none() && self.held_back.is_none() && self.recording.is_over()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        match (&self.body, &self.held_back) {
            (Some(body), _) => body.size_hint(),
            (None, None) => SizeHint::with_exact(0),
            (None, Some(frame)) => {
                SizeHint::with_exact(frame.data_ref().map_or(0, |data| data.len() as u64))
            }
        }
    }
}

impl<B> Drop for Followed<B> {
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        // Without a runtime nobody can read on: it stays recorded as not kept.
        if self.recording.wants_the_rest()
            && let Ok(runtime) = Handle::try_current()
        {
            (self.read_on)(body, self.recording.take(), &runtime);
        }
    }
}

/// Reads the rest for the record, as long as it may still fit.
fn read_on<B>(mut body: Pin<Box<B>>, mut recording: Recording, runtime: &Handle)
where
    B: Body + Send + 'static,
{
    let (tasks, patience) = (recording.tasks(), recording.patience());
    let rest = async move {
        while recording.wants_the_rest() {
            match next(&mut body).await {
                Some(Ok(frame)) => recording.saw(&frame),
                Some(Err(Failed)) => recording.broke_off(),
                None => return recording.write().await,
            }
        }
    };
    tasks.spawn_on(async move { timer::within(patience, rest).await }, runtime);
}

/// Of a body that nobody reads, how it failed is of no interest.
struct Failed;

async fn next<B: Body>(body: &mut Pin<Box<B>>) -> Option<Result<Frame<Bytes>, Failed>> {
    let failed = |frame: Result<_, B::Error>| frame.map_err(|_| Failed);
    poll_fn(|cx| poll_bytes(body.as_mut(), cx).map(|frame| frame.map(failed))).await
}
