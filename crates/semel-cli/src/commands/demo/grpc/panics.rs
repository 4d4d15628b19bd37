//! The last net under a method that panics.

use std::any::Any;

use axum::response::{IntoResponse, Response};
use tonic::Status;
use tower_http::catch_panic::CatchPanicLayer;

/// Answers a panic with a status. It stands outside the idempotency layer, which has to see the
/// panic to free the key.
pub(super) fn catch() -> CatchPanicLayer<fn(Box<dyn Any + Send>) -> Response> {
    CatchPanicLayer::custom(answer)
}

/// What the panic said is in the log, and stays there.
fn answer(_: Box<dyn Any + Send>) -> Response {
    Status::internal("The handler panicked.").into_http::<axum::body::Body>().into_response()
}
