//! The body of a request.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::frames::Frames;
use super::poll_bytes;

pin_project! {
    /// The body of a request as the inner service gets it: passed through, or buffered because
    /// the request carries a key.
    #[derive(Debug)]
    pub struct RequestBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = Projected]
    enum Kind<B> {
        Passed { #[pin] body: B },
        Buffered { frames: Frames },
    }
}

impl<B> RequestBody<B> {
    /// A body that passes through as it is, for doors that let a request past the layer.
    pub const fn passed(body: B) -> Self {
        Self { kind: Kind::Passed { body } }
    }

    pub(crate) fn buffered(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { kind: Kind::Buffered { frames: Frames::new(body, trailers) } }
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
            Projected::Passed { body } => poll_bytes(body, cx),
            Projected::Buffered { frames } => Poll::Ready(frames.next().map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Passed { body } => body.is_end_stream(),
            Kind::Buffered { frames } => frames.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Passed { body } => body.size_hint(),
            Kind::Buffered { frames } => frames.size_hint(),
        }
    }
}
