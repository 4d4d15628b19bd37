//! What kind of content a message has.

use http::{HeaderMap, header};

/// Whether an answer is a stream of events, which may never end.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.as_bytes().split(|byte| *byte == b';').next())
        .is_some_and(|media| media.trim_ascii().eq_ignore_ascii_case(b"text/event-stream"))
}
