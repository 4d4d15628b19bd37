//! Requests, short enough to read.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Bytes;

pub(crate) const ALICE: &str = "dev-alice-key";
pub(crate) const BOB: &str = "dev-bob-key";
pub(crate) const CAROL: &str = "dev-carol-key";

/// One request; Alice's unless said otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    /// After so many bytes the body goes no further, and doesn't end either.
    stalls: Option<usize>,
}

/// A new order of Alice's with a key.
pub(crate) fn keyboard(key: &str) -> Call {
    Call::post("/orders", r#"{"name":"Keyboard","amount":2}"#).key(key)
}

impl Call {
    pub(crate) fn new(method: Method, path: &str) -> Self {
        let call = Self {
            method,
            path: path.to_owned(),
            headers: Vec::new(),
            body: Bytes::new(),
            stalls: None,
        };
        call.by(ALICE)
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: &str, json: &str) -> Self {
        let call = Self::new(Method::POST, path).set(CONTENT_TYPE.as_str(), "application/json");
        call.body(json.to_owned())
    }

    pub(crate) fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// The body stops after so many bytes without an end.
    pub(crate) fn stalling_after(self, bytes: usize) -> Self {
        Self { stalls: Some(bytes), ..self }
    }

    pub(crate) fn path(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Another caller.
    pub(crate) fn by(self, api_key: &str) -> Self {
        self.set(AUTHORIZATION.as_str(), &format!("ApiKey {api_key}"))
    }

    /// The key, as a quoted string (RFC 9651).
    pub(crate) fn key(self, key: &str) -> Self {
        self.set("idempotency-key", &format!("\"{key}\""))
    }

    /// The wish to misbehave.
    pub(crate) fn demo(self, wish: &str) -> Self {
        self.set("x-demo", wish)
    }

    /// Sets a header, in place of what it was.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.add(name, value)
    }

    /// Adds a header to what is there.
    pub(crate) fn add(mut self, name: &str, value: &str) -> Self {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        self.headers.push((name.parse().unwrap(), value));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(present, _)| present.as_str() != name);
        self
    }

    /// The request of an HTTP library; `authority` is what HTTP/2 needs.
    pub(crate) fn request(self, authority: &str) -> Request<CallBody> {
        let uri = format!("http://{authority}{}", self.path);
        let bytes = self.body.slice(..self.stalls.unwrap_or(self.body.len()));
        let mut request = Request::new(CallBody { bytes, ends: self.stalls.is_none() });
        *request.method_mut() = self.method;
        *request.uri_mut() = uri.parse().unwrap();
        for (name, value) in self.headers {
            request.headers_mut().append(name, value);
        }
        request
    }
}

/// The bytes of a call, and whether they are all.
#[derive(Debug)]
pub(crate) struct CallBody {
    bytes: Bytes,
    ends: bool,
}

impl Body for CallBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match (self.bytes.is_empty(), self.ends) {
            (false, _) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.bytes))))),
            (true, true) => Poll::Ready(None),
            (true, false) => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ends && self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.ends { SizeHint::with_exact(self.bytes.len() as u64) } else { SizeHint::default() }
    }
}
