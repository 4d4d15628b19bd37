//! The body of a reply that was read.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

/// The body of a handler's reply: all of it, or its beginning and how it goes on.
pub struct PresentedBody<B: Body> {
    pieces: Bytes,
    then: Then<B>,
}

enum Then<B: Body> {
    Trailers(Option<HeaderMap>),
    Rest(Pin<Box<B>>),
    Error(Option<B::Error>),
}

/// Nothing in it is pinned but what stands in a box.
impl<B: Body> Unpin for PresentedBody<B> {}

impl<B: Body> PresentedBody<B> {
    pub(super) const fn whole(pieces: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { pieces, then: Then::Trailers(trailers) }
    }

    pub(super) const fn begun(pieces: Bytes, rest: Pin<Box<B>>) -> Self {
        Self { pieces, then: Then::Rest(rest) }
    }

    pub(super) const fn broken(pieces: Bytes, error: B::Error) -> Self {
        Self { pieces, then: Then::Error(Some(error)) }
    }
}

impl<B: Body> Body for PresentedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if !self.pieces.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(mem::take(&mut self.pieces)))));
        }
        match &mut self.then {
            Then::Trailers(trailers) => {
                Poll::Ready(trailers.take().map(|t| Ok(Frame::trailers(t))))
            }
            Then::Rest(rest) => {
                rest.as_mut().poll_frame(cx).map(|frame| frame.map(|frame| frame.map(into_bytes)))
            }
            Then::Error(error) => Poll::Ready(error.take().map(Err)),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
            && match &self.then {
                Then::Trailers(trailers) => trailers.is_none(),
                Then::Rest(rest) => rest.is_end_stream(),
                Then::Error(_) => false,
            }
    }

    /// Exact where all of it is there, trailers or not: whoever records it need not wait for more.
    fn size_hint(&self) -> SizeHint {
        let read = self.pieces.len() as u64;
        match &self.then {
            Then::Trailers(_) => SizeHint::with_exact(read),
            Then::Rest(rest) if self.pieces.is_empty() => rest.size_hint(),
            Then::Rest(_) => SizeHint::default(),
            // At least one byte is missing: it is to be read as a body that breaks off.
            Then::Error(_) => SizeHint::with_exact(read + 1),
        }
    }
}

impl<B: Body> fmt::Debug for PresentedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.then {
            Then::Trailers(_) => "PresentedBody(Whole)",
            Then::Rest(_) => "PresentedBody(Begun)",
            Then::Error(_) => "PresentedBody(Broken)",
        })
    }
}

/// Bytes stay where they are; other data is copied once.
pub(crate) fn into_bytes<D: Buf>(frame: Frame<D>) -> Frame<Bytes> {
    frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))
}
