//! The bodies that the layer hands on.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::exchange::Recording;

// ===== RequestBody =====

pin_project! {
    /// The body of a request as the inner service gets it: passed through, or buffered because
    /// the request carries a key.
    #[derive(Debug)]
    pub struct RequestBody<B> {
        #[pin]
        kind: RequestKind<B>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = RequestProjected]
    enum RequestKind<B> {
        Passed { #[pin] body: B },
        Buffered { frames: Frames },
    }
}

impl<B> RequestBody<B> {
    pub(crate) const fn passed(body: B) -> Self {
        Self { kind: RequestKind::Passed { body } }
    }

    pub(crate) fn buffered(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { kind: RequestKind::Buffered { frames: Frames::new(body, trailers) } }
    }
}

impl<B: Body> Body for RequestBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            RequestProjected::Passed { body } => {
                Poll::Ready(ready!(body.poll_frame(cx)).map(|frame| frame.map(into_bytes)))
            }
            RequestProjected::Buffered { frames } => Poll::Ready(frames.next().map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            RequestKind::Passed { body } => body.is_end_stream(),
            RequestKind::Buffered { frames } => frames.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            RequestKind::Passed { body } => body.size_hint(),
            RequestKind::Buffered { frames } => frames.size_hint(),
        }
    }
}

// ===== ResponseBody =====

pin_project! {
    /// The body of an answer: the handler's own as it comes, or one that was kept.
    pub struct ResponseBody<B>
    where
        B: Body,
    {
        #[pin]
        kind: ResponseKind<B>,
    }
}

pin_project! {
    #[project = ResponseProjected]
    enum ResponseKind<B>
    where
        B: Body,
    {
        // As it comes.
        Passed { #[pin] body: B },
        // Kept: a replay, a problem, or what was recorded a moment ago.
        Buffered { frames: Frames },
        // As it comes, and recorded on the way.
        Recorded { #[pin] body: B, recording: Recording },
        // What came before it broke off, and how it did.
        Broken { pieces: Frames, error: Option<B::Error> },
        // What came before it turned out to be longer than it said, and the rest.
        Longer { pieces: Frames, rest: Pin<Box<B>> },
    }
}

impl<B: Body> ResponseBody<B> {
    const fn of(kind: ResponseKind<B>) -> Self {
        Self { kind }
    }

    pub(crate) const fn passed(body: B) -> Self {
        Self::of(ResponseKind::Passed { body })
    }

    pub(crate) fn full(body: Bytes) -> Self {
        Self::buffered(body, None)
    }

    pub(crate) fn buffered(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self::of(ResponseKind::Buffered { frames: Frames::new(body, trailers) })
    }

    pub(crate) const fn recorded(body: B, recording: Recording) -> Self {
        Self::of(ResponseKind::Recorded { body, recording })
    }

    pub(crate) fn broken(pieces: Bytes, error: B::Error) -> Self {
        Self::of(ResponseKind::Broken { pieces: Frames::new(pieces, None), error: Some(error) })
    }

    pub(crate) fn longer(pieces: Bytes, rest: Pin<Box<B>>) -> Self {
        Self::of(ResponseKind::Longer { pieces: Frames::new(pieces, None), rest })
    }
}

impl<B: Body> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            ResponseProjected::Passed { body } => poll_inner(body, cx),
            ResponseProjected::Buffered { frames } => Poll::Ready(frames.next().map(Ok)),
            ResponseProjected::Recorded { body, recording } => poll_recorded(body, recording, cx),
            ResponseProjected::Broken { pieces, error } => {
                let piece = pieces.next().map(Ok);
                Poll::Ready(piece.or_else(|| error.take().map(Err)))
            }
            ResponseProjected::Longer { pieces, rest } => match pieces.next() {
                Some(piece) => Poll::Ready(Some(Ok(piece))),
                None => poll_inner(rest.as_mut(), cx),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            ResponseKind::Passed { body } => body.is_end_stream(),
            ResponseKind::Buffered { frames } => frames.is_empty(),
            // Only the end itself tells, once it is recorded.
            ResponseKind::Recorded { .. }
            | ResponseKind::Broken { .. }
            | ResponseKind::Longer { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            ResponseKind::Passed { body } | ResponseKind::Recorded { body, .. } => body.size_hint(),
            ResponseKind::Buffered { frames } => frames.size_hint(),
            ResponseKind::Broken { .. } | ResponseKind::Longer { .. } => SizeHint::default(),
        }
    }
}

impl<B: Body> fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            ResponseKind::Passed { .. } => "ResponseBody(Passed)",
            ResponseKind::Buffered { .. } => "ResponseBody(Buffered)",
            ResponseKind::Recorded { .. } => "ResponseBody(Recorded)",
            ResponseKind::Broken { .. } => "ResponseBody(Broken)",
            ResponseKind::Longer { .. } => "ResponseBody(Longer)",
        })
    }
}

fn poll_recorded<B: Body>(
    body: Pin<&mut B>,
    recording: &mut Recording,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
    if !recording.has_ended() {
        match ready!(poll_inner(body, cx)) {
            Some(Ok(frame)) => {
                recording.saw(&frame);
                return Poll::Ready(Some(Ok(frame)));
            }
            Some(Err(error)) => {
                recording.broke_off();
                return Poll::Ready(Some(Err(error)));
            }
            None => recording.end(),
        }
    }
    // The end is held back until it is recorded: who saw it can replay it.
    ready!(recording.poll_written(cx));
    Poll::Ready(None)
}

fn poll_inner<B: Body>(
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
    Poll::Ready(ready!(body.poll_frame(cx)).map(|frame| frame.map(into_bytes)))
}

pub(crate) fn into_bytes<D: Buf>(frame: Frame<D>) -> Frame<Bytes> {
    frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))
}

// ===== Frames =====

/// A body that is all there.
#[derive(Debug)]
struct Frames {
    body: Bytes,
    trailers: Option<HeaderMap>,
}

impl Frames {
    fn new(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { body, trailers: trailers.filter(|trailers| !trailers.is_empty()) }
    }

    fn next(&mut self) -> Option<Frame<Bytes>> {
        if !self.body.is_empty() {
            return Some(Frame::data(std::mem::take(&mut self.body)));
        }
        self.trailers.take().map(Frame::trailers)
    }

    fn is_empty(&self) -> bool {
        self.body.is_empty() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.body.len() as u64)
    }
}
