//! Answers that are hard to record and to replay.

use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use http::header::{CONTENT_LANGUAGE, CONTENT_TYPE, ETAG, LAST_MODIFIED, LINK, SET_COOKIE};
use http::{HeaderName, HeaderValue, StatusCode};
use http_body::{Frame, SizeHint};
use semel::timer;

use super::misbehave::Answer;
use crate::args::size::Size;

const BETWEEN_EVENTS: Duration = Duration::from_millis(50);
const NOTE: HeaderName = HeaderName::from_static("x-demo-note");

/// Changes the handler's good answer into the one that was wished for.
pub(crate) fn dress(answer: Answer, mut response: Response) -> Response {
    match answer {
        Answer::Big(size) => with_body(response, "application/octet-stream", big(size)),
        Answer::Stream(count) => with_body(response, "text/event-stream", events(count)),
        Answer::Binary => {
            let every: Vec<u8> = (0..=255).collect();
            with_body(response, "application/octet-stream", Body::from(every))
        }
        Answer::Empty => {
            *response.status_mut() = StatusCode::NO_CONTENT;
            response.headers_mut().remove(CONTENT_TYPE);
            response.map(|_| Body::empty())
        }
        Answer::Cookie => with_headers(response, &COOKIE),
        Answer::Headers => with_headers(response, &HEADERS),
    }
}

/// Beside headers that a replay carries, some that belong to one answer only.
const COOKIE: [(HeaderName, &[u8]); 8] = [
    (SET_COOKIE, b"session=not-for-a-replay; HttpOnly; SameSite=Strict"),
    (SET_COOKIE, b"theme=dark; Path=/"),
    (NOTE, b"one"),
    (NOTE, b"two"),
    (LINK, b"</orders>; rel=\"collection\""),
    (LINK, b"</executions>; rel=\"related\""),
    (CONTENT_LANGUAGE, b"en"),
    (LAST_MODIFIED, b"Thu, 01 Jan 2026 00:00:00 GMT"),
];

/// ETag is opaque bytes: `é` here is the one byte E9 of Latin-1, which is no UTF-8.
const HEADERS: [(HeaderName, &[u8]); 3] = [
    (LINK, b"</orders>; rel=\"collection\""),
    (LINK, b"</executions>; rel=\"related\", </orders>; rel=\"up\""),
    (ETAG, b"\"caf\xE9\""),
];

fn with_headers(mut response: Response, headers: &[(HeaderName, &[u8])]) -> Response {
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn with_body(mut response: Response, kind: &'static str, body: Body) -> Response {
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.map(|_| body)
}

/// A run of 0 to 250, again and again: 251 is a prime, so a body that lost or
/// doubled a block shows it.
static PATTERN: LazyLock<Bytes> =
    LazyLock::new(|| (0..=250_u8).cycle().take(251 * 260).collect::<Vec<u8>>().into());

fn big(Size(left): Size) -> Body {
    Body::new(Patterned { left })
}

/// A body of known length that is made as it is read, never held whole.
#[derive(Debug)]
struct Patterned {
    left: u64,
}

impl http_body::Body for Patterned {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let take = usize::try_from(self.left).unwrap_or(usize::MAX).min(PATTERN.len());
        self.left -= take as u64;
        Poll::Ready(Some(Ok(Frame::data(PATTERN.slice(..take)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Server-sent events, each 50 ms after the one before.
fn events(count: u32) -> Body {
    Body::from_stream(stream::unfold(1, move |number| async move {
        if number > count {
            return None;
        }
        timer::sleep(BETWEEN_EVENTS).await;
        let event =
            format!("id: {number}\nevent: tick\ndata: {{\"n\":{number},\"of\":{count}}}\n\n");
        Some((Ok::<_, std::convert::Infallible>(event), number + 1))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    async fn body(answer: Answer) -> (Option<u64>, Bytes) {
        let response = dress(answer, Response::new(Body::from("order")));
        let exact = http_body::Body::size_hint(response.body()).exact();
        (exact, response.into_body().collect().await.unwrap().to_bytes())
    }

    #[tokio::test]
    async fn a_big_body_has_its_length_and_no_gap() {
        let (exact, body) = body(Answer::Big(Size(200_000))).await;
        assert_eq!((exact, body.len()), (Some(200_000), 200_000));
        assert!(body.iter().enumerate().all(|(at, byte)| at % 251 == usize::from(*byte)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_has_its_events_and_no_length() {
        let (exact, body) = body(Answer::Stream(3)).await;
        assert_eq!(exact, None);
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert_eq!(text.matches("event: tick\n").count(), 3);
        assert!(text.ends_with("data: {\"n\":3,\"of\":3}\n\n"), "{text}");
    }

    #[tokio::test]
    async fn every_byte_is_there_once_and_an_empty_answer_has_none() {
        assert_eq!(body(Answer::Binary).await.1, (0..=255).collect::<Vec<u8>>());
        assert!(body(Answer::Empty).await.1.is_empty());
    }

    #[test]
    fn no_header_of_the_lists_is_lost() {
        for (answer, count) in [(Answer::Cookie, COOKIE.len()), (Answer::Headers, HEADERS.len())] {
            assert_eq!(dress(answer, Response::new(Body::empty())).headers().len(), count);
        }
    }
}
