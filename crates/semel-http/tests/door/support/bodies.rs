//! Bodies that behave in ways of their own.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use http_body_util::StreamBody;
use tokio::sync::mpsc;

/// What a scripted body does next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Data(Bytes),
    Trailers(HeaderMap),
    Fail,
    Panic,
}

/// A body that does as it is told and says of its length what it is told.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    steps: VecDeque<Step>,
    says: Option<u64>,
    tells_its_end: bool,
}

impl Scripted {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), says: None, tells_its_end: false }
    }

    /// Pieces of text.
    pub(crate) fn of(pieces: &[&'static str]) -> Self {
        Self::new(pieces.iter().map(|piece| Step::Data(Bytes::from_static(piece.as_bytes()))))
    }

    pub(crate) fn then(mut self, step: Step) -> Self {
        self.steps.push_back(step);
        self
    }

    pub(crate) fn saying(mut self, length: u64) -> Self {
        self.says = Some(length);
        self
    }

    /// After its last step it says that it is over, without being asked for more.
    pub(crate) fn telling_its_end(mut self) -> Self {
        self.tells_its_end = true;
        self
    }

    pub(crate) fn body(self) -> Body {
        Body::new(self)
    }
}

impl http_body::Body for Scripted {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(match self.steps.pop_front() {
            None => None,
            Some(Step::Data(data)) => Some(Ok(Frame::data(data))),
            Some(Step::Trailers(trailers)) => Some(Ok(Frame::trailers(trailers))),
            Some(Step::Fail) => Some(Err(std::io::Error::other("the source is gone"))),
            Some(Step::Panic) => panic!("a body that panics"),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.tells_its_end && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.says.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// A body of unknown length that a test writes while it is read; it ends when the sender goes.
pub(crate) fn piped() -> (mpsc::UnboundedSender<Result<Bytes, std::io::Error>>, Body) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let stream = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|piece| (piece, receiver))
    });
    (sender, Body::from_stream(stream))
}

/// How many bytes of a stream are in somebody's hands now, and were at most.
#[derive(Debug, Clone, Default)]
pub(crate) struct InHand(Arc<(AtomicUsize, AtomicUsize)>);

impl InHand {
    pub(crate) fn now(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }

    /// A piece that is counted until the last handle to it is gone.
    pub(crate) fn piece(&self, size: usize) -> Bytes {
        let now = self.0.0.fetch_add(size, Ordering::SeqCst) + size;
        self.0.1.fetch_max(now, Ordering::SeqCst);
        Bytes::from_owner(Piece { bytes: vec![b'x'; size], in_hand: self.clone() })
    }

    /// A body of unknown length of so many counted pieces.
    pub(crate) fn stream(&self, pieces: usize, size: usize) -> Body {
        let in_hand = self.clone();
        let pieces =
            (0..pieces).map(move |_| Ok::<_, Infallible>(Frame::data(in_hand.piece(size))));
        Body::new(StreamBody::new(stream::iter(pieces)))
    }
}

struct Piece {
    bytes: Vec<u8>,
    in_hand: InHand,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.in_hand.0.0.fetch_sub(self.bytes.len(), Ordering::SeqCst);
    }
}
