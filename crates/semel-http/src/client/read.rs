//! Answers that are read ahead, so that one which breaks off is one more reason to try again.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, header, response};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::body::{Frames, poll_bytes};
use crate::collect::Pieces;

pin_project! {
    /// The body of an answer: read to its end before it was handed out, or passed on as it comes.
    #[derive(Debug)]
    pub struct AnswerBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = Projected]
    enum Kind<B> {
        Passed { #[pin] body: B },
        Read { frames: Frames },
        // What was read turned out to be longer than anybody wanted to keep.
        Begun { read: Option<Bytes>, rest: Pin<Box<B>> },
    }
}

impl<B> AnswerBody<B> {
    pub(super) const fn passed(body: B) -> Self {
        Self { kind: Kind::Passed { body } }
    }

    /// All of it, where it is there.
    pub(super) fn whole(&self) -> Option<&Bytes> {
        match &self.kind {
            Kind::Read { frames } => Some(frames.bytes()),
            Kind::Passed { .. } | Kind::Begun { .. } => None,
        }
    }
}

/// Reads a body to its end, or until it has more bytes than `limit`.
pub(super) async fn read<B: Body>(body: B, limit: usize) -> Result<AnswerBody<B>, B::Error> {
    let mut rest = Box::pin(body);
    let mut pieces = Pieces::default();
    let mut trailers: Option<HeaderMap> = None;
    while let Some(frame) = poll_fn(|cx| poll_bytes(rest.as_mut(), cx)).await {
        match frame?.into_data() {
            Ok(piece) => {
                pieces.push(piece);
                if pieces.len() > limit {
                    let read = Some(pieces.joined());
                    return Ok(AnswerBody { kind: Kind::Begun { read, rest } });
                }
            }
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
    }
    let frames = Frames::new(pieces.joined(), trailers);
    Ok(AnswerBody { kind: Kind::Read { frames } })
}

/// Whether an answer is read ahead: if it says that it is short enough, or is a problem document.
pub(super) fn is_read_ahead(head: &response::Parts, length: &SizeHint, limit: usize) -> bool {
    let fits = length.exact().is_some_and(|length| length <= limit as u64);
    limit > 0 && (fits || is_problem(&head.headers))
}

/// Whether an answer is a problem document (RFC 9457).
pub(super) fn is_problem(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    media
        .and_then(|value| value.split(|byte| *byte == b';').next())
        .is_some_and(|media| media.trim_ascii().eq_ignore_ascii_case(b"application/problem+json"))
}

impl<B: Body> Body for AnswerBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            Projected::Passed { body } => poll_bytes(body, cx),
            Projected::Read { frames } => Poll::Ready(frames.next().map(Ok)),
            Projected::Begun { read, rest } => match read.take() {
                Some(read) => Poll::Ready(Some(Ok(Frame::data(read)))),
                None => poll_bytes(rest.as_mut(), cx),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Passed { body } => body.is_end_stream(),
            Kind::Read { frames } => frames.is_empty(),
            Kind::Begun { read, rest } => read.is_none() && rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Passed { body } => body.size_hint(),
            Kind::Read { frames } => frames.size_hint(),
            Kind::Begun { read: None, rest } => rest.size_hint(),
            Kind::Begun { read: Some(read), rest } => plus(&rest.size_hint(), read.len() as u64),
        }
    }
}

fn plus(rest: &SizeHint, read: u64) -> SizeHint {
    let mut hint = SizeHint::new();
    hint.set_lower(rest.lower().saturating_add(read));
    if let Some(upper) = rest.upper() {
        hint.set_upper(upper.saturating_add(read));
    }
    hint
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, StreamBody};

    use super::*;

    fn pieces(
        pieces: &[&'static str],
    ) -> impl Body<Data = Bytes, Error = std::convert::Infallible> + use<> {
        let frames: Vec<_> = pieces
            .iter()
            .map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes()))))
            .collect();
        StreamBody::new(futures_util::stream::iter(frames))
    }

    #[tokio::test]
    async fn a_short_body_is_read_to_its_end() {
        let read = read(pieces(&["ab", "cd"]), 4).await.unwrap();
        assert_eq!(read.whole().unwrap(), "abcd");
        assert_eq!(read.size_hint().exact(), Some(4));
        assert_eq!(read.collect().await.unwrap().to_bytes(), "abcd");
    }

    #[tokio::test]
    async fn of_a_longer_one_nothing_is_lost() {
        let read = read(pieces(&["ab", "cd", "ef"]), 3).await.unwrap();
        assert!(read.whole().is_none());
        assert!(!read.is_end_stream());
        assert!(read.size_hint().lower() >= 4);
        assert_eq!(read.collect().await.unwrap().to_bytes(), "abcdef");
    }

    #[test]
    fn only_what_is_short_or_a_problem_is_read_ahead() {
        let head = |media: &str| {
            let response = http::Response::builder().header("content-type", media);
            response.body(()).unwrap().into_parts().0
        };
        let (json, problem) = (head("application/json"), head("application/problem+json; x=y"));
        assert!(is_read_ahead(&json, &SizeHint::with_exact(10), 10));
        assert!(!is_read_ahead(&json, &SizeHint::with_exact(11), 10));
        assert!(!is_read_ahead(&json, &SizeHint::default(), 10));
        assert!(is_read_ahead(&problem, &SizeHint::default(), 10));
        assert!(!is_read_ahead(&problem, &SizeHint::with_exact(0), 0));
    }
}
