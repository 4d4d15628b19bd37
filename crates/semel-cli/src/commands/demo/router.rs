//! The stack, from the outside in: panics are caught, callers are known,
//! retries are made harmless, and then comes the business.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use semel_http::IdempotencyLayer;
use tower::util::MapResponse;

use super::authenticate::authenticate;
use super::data::Database;
use super::handlers::{
    create_order, create_payment, delete_order, executions, list_orders, show_order,
};
use super::mcp::McpService;
use super::openapi;
use super::panics;
use super::problem::Problem;

/// The whole service.
pub(crate) type App = MapResponse<Router, fn(Response) -> Response>;

/// Builds the service.
///
/// The idempotency layer stands inside authentication, whose scope it needs, and outside
/// everything that has an effect.
pub(crate) fn router(
    data: Database,
    idempotency: IdempotencyLayer,
    mcp: McpService,
    max_request_body: usize,
) -> App {
    let described = openapi::routes(&idempotency);
    let router = business()
        .layer(idempotency)
        // Its tools' calls are protected one by one, not the requests that bring them.
        .route_service("/mcp", mcp)
        .layer(middleware::from_fn(authenticate))
        .route("/executions", get(executions))
        .merge(described)
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        // For calls that pass the idempotency layer by, which has the same limit.
        .layer(DefaultBodyLimit::max(max_request_body))
        .layer(panics::catch())
        .with_state(data);
    MapResponse::new(router, of_no_length)
}

/// No Content may not say how long it is (RFC 9110, 8.6); the router says 0.
fn of_no_length(mut response: Response) -> Response {
    if response.status() == StatusCode::NO_CONTENT {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}

fn business() -> Router<Database> {
    Router::new()
        .route("/orders", post(create_order).get(list_orders))
        .route("/orders/{id}", get(show_order).delete(delete_order))
        .route("/payments", post(create_payment))
}

async fn no_route() -> impl IntoResponse {
    let detail = "There are /orders, /orders/{id}, /payments, /executions, /mcp, /openapi.json and \
                  /docs.";
    Problem::new(StatusCode::NOT_FOUND, "DEMO_NO_ROUTE", "There is no such path", detail)
}

async fn no_method() -> impl IntoResponse {
    let detail = "The header Allow names the methods of this path.";
    let title = "The path doesn't take this method";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "DEMO_NO_METHOD", title, detail)
}
