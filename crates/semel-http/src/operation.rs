//! What a request does.

use http::request;
use semel::{KeyFault, Operation, Problem, ProblemKind};

use crate::layer::Door;

/// The operation's name: the layer's own, or the method with the matched route, or with the path.
pub(crate) fn of(door: &Door, head: &request::Parts) -> Result<Operation, Problem> {
    if let Some(operation) = &door.operation {
        return Ok(operation.clone());
    }
    let route = matched_route(head).unwrap_or_else(|| head.uri.path());
    // A path longer than an operation's name can only come from a client.
    Operation::new(format!("{} {route}", head.method))
        .map_err(|_| ProblemKind::KeyInvalid { fault: KeyFault::Other }.into())
}

#[cfg(feature = "axum")]
fn matched_route(head: &request::Parts) -> Option<&str> {
    head.extensions.get::<axum::extract::MatchedPath>().map(|route| route.as_str())
}

#[cfg(not(feature = "axum"))]
const fn matched_route(_: &request::Parts) -> Option<&str> {
    None
}
