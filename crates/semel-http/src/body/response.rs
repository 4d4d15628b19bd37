//! The body of an answer.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::followed::Followed;
use super::frames::Frames;
use super::poll_bytes;

pin_project! {
    /// The body of an answer: the handler's own as it comes, or one that was kept.
    pub struct ResponseBody<B>
    where
        B: Body,
    {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = Projected]
    enum Kind<B>
    where
        B: Body,
    {
        // As it comes.
        Passed { #[pin] body: B },
        // Kept: a replay, a problem, or what was recorded a moment ago.
        Buffered { frames: Frames },
        // As it comes, and recorded on the way.
        Followed { followed: Followed<B> },
        // It was to be kept and can't be: what was read of it, and how it goes on.
        Begun { pieces: Frames, hint: SizeHint, then: Then<B> },
    }
}

/// How a body goes on that was read in part.
enum Then<B: Body> {
    Error(Option<B::Error>),
    Rest(Pin<Box<B>>),
    End,
}

impl<B: Body> ResponseBody<B> {
    const fn of(kind: Kind<B>) -> Self {
        Self { kind }
    }

    pub(crate) const fn passed(body: B) -> Self {
        Self::of(Kind::Passed { body })
    }

    pub(crate) fn full(body: Bytes) -> Self {
        Self::buffered(body, None)
    }

    pub(crate) fn buffered(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self::of(Kind::Buffered { frames: Frames::new(body, trailers) })
    }

    pub(crate) const fn followed(followed: Followed<B>) -> Self {
        Self::of(Kind::Followed { followed })
    }

    /// What was read before the body failed, and how it failed. `hint` is what it had said of its
    /// length: the server is to see the same breach of it as without the layer.
    pub(crate) fn broken(pieces: Bytes, hint: SizeHint, error: B::Error) -> Self {
        let pieces = Frames::new(pieces, None);
        Self::of(Kind::Begun { pieces, hint, then: Then::Error(Some(error)) })
    }

    /// What was read before the body turned out to have another length than it said, and the
    /// rest of it.
    pub(crate) fn begun(pieces: Bytes, hint: SizeHint, rest: Option<Pin<Box<B>>>) -> Self {
        let pieces = Frames::new(pieces, None);
        Self::of(Kind::Begun { pieces, hint, then: rest.map_or(Then::End, Then::Rest) })
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
            Projected::Passed { body } => poll_bytes(body, cx),
            Projected::Buffered { frames } => Poll::Ready(frames.next().map(Ok)),
            Projected::Followed { followed } => followed.poll_frame(cx),
            Projected::Begun { pieces, hint, then } => {
                // What it said held for the whole, not for what is left.
                *hint = SizeHint::default();
                match (pieces.next(), then) {
                    (Some(piece), _) => Poll::Ready(Some(Ok(piece))),
                    (None, Then::Error(error)) => Poll::Ready(error.take().map(Err)),
                    (None, Then::Rest(rest)) => poll_bytes(rest.as_mut(), cx),
                    (None, Then::End) => Poll::Ready(None),
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Passed { body } => body.is_end_stream(),
            Kind::Buffered { frames } => frames.is_empty(),
            Kind::Followed { followed } => followed.is_end_stream(),
            // Only the end itself tells.
            Kind::Begun { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Passed { body } => body.size_hint(),
            Kind::Buffered { frames } => frames.size_hint(),
            Kind::Followed { followed } => followed.size_hint(),
            Kind::Begun { hint, .. } => *hint,
        }
    }
}

impl<B: Body> fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Passed { .. } => "ResponseBody(Passed)",
            Kind::Buffered { .. } => "ResponseBody(Buffered)",
            Kind::Followed { .. } => "ResponseBody(Followed)",
            Kind::Begun { .. } => "ResponseBody(Begun)",
        })
    }
}
