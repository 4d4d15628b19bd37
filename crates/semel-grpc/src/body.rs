//! The body of an answer.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use semel_http::ResponseBody;

use crate::presented::PresentedBody;
use crate::presented::into_bytes;

pin_project! {
    /// The body of an answer: the handler's own as it comes, one that was kept, or none.
    pub struct GrpcBody<B>
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
        // Of a call that passed.
        Passed { #[pin] body: B },
        // Of a call under a key.
        Keyed { #[pin] body: ResponseBody<PresentedBody<B>> },
        // The headers say all.
        Empty,
    }
}

impl<B: Body> GrpcBody<B> {
    pub(crate) const fn passed(body: B) -> Self {
        Self { kind: Kind::Passed { body } }
    }

    pub(crate) const fn keyed(body: ResponseBody<PresentedBody<B>>) -> Self {
        Self { kind: Kind::Keyed { body } }
    }

    pub(crate) const fn empty() -> Self {
        Self { kind: Kind::Empty }
    }
}

impl<B: Body> Body for GrpcBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            Projected::Passed { body } => {
                body.poll_frame(cx).map(|frame| frame.map(|frame| frame.map(into_bytes)))
            }
            Projected::Keyed { body } => body.poll_frame(cx),
            Projected::Empty => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Passed { body } => body.is_end_stream(),
            Kind::Keyed { body } => body.is_end_stream(),
            Kind::Empty => true,
        }
    }

    /// gRPC says lengths by its own means: a first reply and its replay are to look the same.
    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Passed { body } => body.size_hint(),
            Kind::Keyed { .. } => SizeHint::default(),
            Kind::Empty => SizeHint::with_exact(0),
        }
    }
}

impl<B: Body> fmt::Debug for GrpcBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Passed { .. } => "GrpcBody(Passed)",
            Kind::Keyed { .. } => "GrpcBody(Keyed)",
            Kind::Empty => "GrpcBody(Empty)",
        })
    }
}
