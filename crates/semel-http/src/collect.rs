//! Reading a whole body, up to a limit.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::Body;
use pin_project_lite::pin_project;

use crate::body::into_bytes;

/// A body that is all there.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

/// Why a body could not be read.
#[derive(Debug)]
pub(crate) enum NotCollected {
    /// It has more bytes than the limit.
    TooLarge { limit: u64 },
    /// It ended before its end: its sender is gone, or sent nonsense.
    Broken,
}

pin_project! {
    /// Reads a body. It never holds more than the limit and one frame.
    pub(crate) struct Collecting<B> {
        #[pin]
        body: B,
        limit: usize,
        pieces: Pieces,
        trailers: Option<HeaderMap>,
    }
}

impl<B> Collecting<B> {
    pub(crate) fn new(body: B, limit: usize) -> Self {
        Self { body, limit, pieces: Pieces::default(), trailers: None }
    }
}

impl<B: Body> Future for Collecting<B> {
    type Output = Result<Collected, NotCollected>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let Some(frame) = ready!(this.body.as_mut().poll_frame(cx)) else {
                let body = std::mem::take(this.pieces).joined();
                return Poll::Ready(Ok(Collected { body, trailers: this.trailers.take() }));
            };
            let Ok(frame) = frame else { return Poll::Ready(Err(NotCollected::Broken)) };
            match into_bytes(frame).into_data() {
                Ok(piece) if piece.len() > this.limit.saturating_sub(this.pieces.len()) => {
                    return Poll::Ready(Err(NotCollected::TooLarge { limit: *this.limit as u64 }));
                }
                Ok(piece) => this.pieces.push(piece),
                Err(frame) => *this.trailers = frame.into_trailers().ok(),
            }
        }
    }
}

/// Bytes that came in pieces. One piece alone is not copied.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    first: Bytes,
    rest: BytesMut,
}

impl Pieces {
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.rest.len()
    }

    pub(crate) fn push(&mut self, piece: Bytes) {
        if self.len() == 0 {
            self.first = piece;
        } else {
            if self.rest.is_empty() {
                self.rest.extend_from_slice(&self.first);
                self.first = Bytes::new();
            }
            self.rest.extend_from_slice(&piece);
        }
    }

    pub(crate) fn joined(self) -> Bytes {
        if self.rest.is_empty() { self.first } else { self.rest.freeze() }
    }
}
