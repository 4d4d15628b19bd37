//! Authentication, by the same keys as through HTTP.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tonic::Status;

use crate::commands::demo::authenticate::account;

/// Services that need no API key: what there is, and the meter.
const OPEN: [&str; 3] = [
    "/grpc.reflection.v1.ServerReflection/",
    "/grpc.reflection.v1alpha.ServerReflection/",
    "/semel.demo.v1.Executions/",
];

/// Puts the account and its scope into the request's extensions, or answers `UNAUTHENTICATED`.
pub(super) async fn authenticate(mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if OPEN.iter().any(|service| path.starts_with(service)) {
        return next.run(request).await;
    }
    let Some(account) = account(request.headers()) else {
        let status = Status::unauthenticated(
            "An API key is needed: metadata `authorization: ApiKey KEY`, once, with one of the \
             keys that were printed at start.",
        );
        return status.into_http::<Body>().into_response();
    };
    let Ok(scope) = account.scope() else {
        return Status::internal("The account has no scope.").into_http::<Body>().into_response();
    };
    request.extensions_mut().insert(account);
    request.extensions_mut().insert(scope);
    next.run(request).await
}
