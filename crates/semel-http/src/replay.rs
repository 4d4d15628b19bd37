//! Recorded answers, given again.

use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use http_body::Body;
use semel::{Extent, Outcome};

use crate::body::ResponseBody;
use crate::door::Door;
use crate::settings::Oversized;
use crate::stored::{self, RecordedAnswer, Stored};

/// In the extensions of every answer that is a replay, for the layers further out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Replayed;

/// A recorded outcome of this door as an answer; none where it can't be given again.
pub(crate) fn answer<B: Body>(door: &Door, outcome: &Outcome) -> Option<Response<ResponseBody<B>>> {
    if outcome.extent == Extent::Partial && door.settings.oversized == Oversized::Unavailable {
        return None;
    }
    Some(marked(door, response(stored::read(&outcome.payload)?)))
}

/// What another door recorded, as this one's answer.
pub(crate) fn translated<B: Body>(
    door: &Door,
    recorded: RecordedAnswer,
) -> Response<ResponseBody<B>> {
    let RecordedAnswer { response, trailers } = recorded;
    let (head, body) = response.into_parts();
    let (status, headers) = (head.status, head.headers);
    marked(door, self::response(Stored { status, headers, body, trailers }))
}

fn marked<B>(door: &Door, mut response: Response<B>) -> Response<B> {
    response.extensions_mut().insert(Replayed);
    if let Some(marker) = &door.settings.replay_marker {
        response.headers_mut().insert(marker.clone(), HeaderValue::from_static("true"));
    }
    response
}

fn response<B: Body>(stored: Stored) -> Response<ResponseBody<B>> {
    let announced = stored.trailers.as_ref().and_then(names_of);
    let mut response = Response::new(ResponseBody::buffered(stored.body, stored.trailers));
    *response.status_mut() = stored.status;
    *response.headers_mut() = stored.headers;
    if let Some(names) = announced {
        // Under HTTP/1.1 a server sends only those trailers that it announced.
        response.headers_mut().insert(header::TRAILER, names);
    }
    response
}

fn names_of(trailers: &HeaderMap) -> Option<HeaderValue> {
    let names: Vec<&str> = trailers.keys().map(HeaderName::as_str).collect();
    if names.is_empty() { None } else { HeaderValue::from_str(&names.join(", ")).ok() }
}
