//! Reading a reply.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, response};
use http_body::Body;
use pin_project_lite::pin_project;
use tonic::Code;

use super::body::{PresentedBody, into_bytes};
use crate::failures::Coded;
use crate::{codes, frame, media};

pin_project! {
    /// The future of a reply that is all there, or of which the beginning is where it is a stream,
    /// too large, or breaks off.
    pub struct PresentedFuture<F, B> {
        #[pin]
        state: State<F, B>,
        limit: usize,
    }
}

pin_project! {
    #[project = Projected]
    enum State<F, B> {
        // (Calling) => (Reading), or its end.
        Calling { #[pin] future: F },
        // Boxed, so that the rest of it can be handed on.
        Reading { reading: Option<Reading<B>> },
    }
}

struct Reading<B> {
    head: response::Parts,
    body: Pin<Box<B>>,
    pieces: Pieces,
    trailers: Option<HeaderMap>,
}

impl<F, B> PresentedFuture<F, B> {
    pub(super) const fn new(future: F, limit: usize) -> Self {
        Self { state: State::Calling { future }, limit }
    }
}

impl<F, B, E> Future for PresentedFuture<F, B>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
{
    type Output = Result<Response<PresentedBody<B>>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let limit = self.limit;
        loop {
            let reading = match self.as_mut().project().state.project() {
                Projected::Calling { future } => {
                    let (head, body) = ready!(future.poll(cx))?.into_parts();
                    if media::codec(&head.headers).is_none() {
                        // No gRPC: a router's own answer.
                        let body = PresentedBody::begun(Bytes::new(), Box::pin(body));
                        return Poll::Ready(Ok(Response::from_parts(head, body)));
                    }
                    Reading {
                        head,
                        body: Box::pin(body),
                        pieces: Pieces::default(),
                        trailers: None,
                    }
                }
                Projected::Reading { reading } => {
                    let there = reading.as_mut().expect("not polled again after its end");
                    let end = ready!(there.poll_end(cx, limit));
                    let there = reading.take().expect("it was there a moment ago");
                    return Poll::Ready(Ok(there.present(end)));
                }
            };
            self.as_mut().project().state.set(State::Reading { reading: Some(reading) });
        }
    }
}

/// How the reading of a reply ended.
enum End<E> {
    Whole,
    /// It has more than one message, or more bytes than are kept.
    More,
    Broken(E),
}

impl<B: Body> Reading<B> {
    fn poll_end(&mut self, cx: &mut Context<'_>, limit: usize) -> Poll<End<B::Error>> {
        loop {
            let frame = match ready!(self.body.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(End::Whole),
                Some(Err(error)) => return Poll::Ready(End::Broken(error)),
                Some(Ok(frame)) => into_bytes(frame),
            };
            match frame.into_data() {
                Ok(piece) => {
                    self.pieces.push(piece);
                    if self.pieces.seen().len() > limit || frame::are_several(self.pieces.seen()) {
                        return Poll::Ready(End::More);
                    }
                }
                Err(frame) => self.trailers = frame.into_trailers().ok(),
            }
        }
    }

    fn present(mut self, end: End<B::Error>) -> Response<PresentedBody<B>> {
        let code = match (&end, codes::in_fields(&self.head.headers)) {
            (_, Some(code)) => code,
            // A reply without a status is none, whatever it held (gRPC over HTTP/2, "Responses").
            (End::Whole, None) => {
                self.trailers.as_ref().and_then(codes::in_fields).unwrap_or(Code::Unknown)
            }
            // Its status is to come, and a message came before it: the work was done.
            (End::More | End::Broken(_), None) => Code::Ok,
        };
        self.head.status = codes::http_status(code);
        self.head.extensions.insert(Coded(code));
        let pieces = self.pieces.joined();
        let body = match end {
            End::Whole => PresentedBody::whole(pieces, self.trailers),
            End::More => {
                if frame::are_several(&pieces) {
                    tracing::error!(
                        "a method that is protected as a unary one replies with several messages: \
                         name it with `pass`"
                    );
                }
                PresentedBody::begun(pieces, self.body)
            }
            End::Broken(error) => PresentedBody::broken(pieces, error),
        };
        Response::from_parts(self.head, body)
    }
}

/// Bytes that come in pieces. One piece alone, the usual case, is not copied.
#[derive(Default)]
struct Pieces {
    only: Bytes,
    several: BytesMut,
}

impl Pieces {
    fn push(&mut self, piece: Bytes) {
        if self.seen().is_empty() {
            self.only = piece;
        } else {
            if self.several.is_empty() {
                self.several.extend_from_slice(&mem::take(&mut self.only));
            }
            self.several.extend_from_slice(&piece);
        }
    }

    fn seen(&self) -> &[u8] {
        if self.several.is_empty() { &self.only } else { &self.several }
    }

    fn joined(self) -> Bytes {
        if self.several.is_empty() { self.only } else { self.several.freeze() }
    }
}

impl<F, B> fmt::Debug for PresentedFuture<F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Calling { .. } => "PresentedFuture(Calling)",
            State::Reading { .. } => "PresentedFuture(Reading)",
        })
    }
}
