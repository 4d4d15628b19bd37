//! A body that is all there.

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};

/// Bytes, and trailers where there are any.
#[derive(Debug)]
pub(crate) struct Frames {
    body: Bytes,
    trailers: Option<HeaderMap>,
}

impl Frames {
    pub(crate) fn new(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { body, trailers: trailers.filter(|trailers| !trailers.is_empty()) }
    }

    pub(crate) fn next(&mut self) -> Option<Frame<Bytes>> {
        if !self.body.is_empty() {
            return Some(Frame::data(std::mem::take(&mut self.body)));
        }
        self.trailers.take().map(Frame::trailers)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.body.is_empty() && self.trailers.is_none()
    }

    /// The data that is still there.
    #[cfg(feature = "client")]
    pub(crate) const fn bytes(&self) -> &Bytes {
        &self.body
    }

    /// Exact, unless trailers follow: under HTTP/1.1 those need a chunked body (RFC 9112, 7.1.2),
    /// and a server that knows the length sends none.
    pub(crate) fn size_hint(&self) -> SizeHint {
        let length = self.body.len() as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(length);
        if self.trailers.is_none() {
            hint.set_upper(length);
        }
        hint
    }
}
