//! Requests.

use axum::body::Body;
use http::{HeaderValue, Request};
use semel::Scope;

pub(crate) fn alice() -> Scope {
    Scope::new("acme", "alice").unwrap()
}

pub(crate) fn bob() -> Scope {
    Scope::new("acme", "bob").unwrap()
}

/// Any request of Alice, without a key.
pub(crate) fn request(method: &str, path: &str, body: impl Into<Body>) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json").body(body.into()).unwrap();
    from(alice(), request)
}

/// The usual one: Alice orders a keyboard.
pub(crate) fn order(key: &str) -> Request<Body> {
    keyed(key, request("POST", "/orders", r#"{"name":"Keyboard","amount":2}"#))
}

/// The same request under this key.
pub(crate) fn keyed(key: &str, request: Request<Body>) -> Request<Body> {
    with("idempotency-key", key, request)
}

/// The same request with one more header.
pub(crate) fn with(
    name: &'static str,
    value: impl AsRef<[u8]>,
    mut request: Request<Body>,
) -> Request<Body> {
    let value = HeaderValue::from_bytes(value.as_ref()).unwrap();
    request.headers_mut().append(name, value);
    request
}

/// The same request of somebody else.
pub(crate) fn from(scope: Scope, mut request: Request<Body>) -> Request<Body> {
    request.extensions_mut().insert(scope);
    request
}
