//! The last net under a handler that panics.

use std::any::Any;

use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;

use super::problem::Problem;

/// Answers a panic with a problem of 500. It stands outside the idempotency
/// layer, which has to see the panic to free the key.
pub(crate) fn catch() -> CatchPanicLayer<fn(Box<dyn Any + Send>) -> Response> {
    CatchPanicLayer::custom(answer)
}

/// What the panic said is in the log, and stays there.
fn answer(_: Box<dyn Any + Send>) -> Response {
    Problem::internal("The handler panicked.").into_response()
}
