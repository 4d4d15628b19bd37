//! The stack, from the outside in: panics are caught, callers are known,
//! retries are made harmless, and then comes the business.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use http::StatusCode;

use super::authenticate::authenticate;
use super::data::Database;
use super::handlers::{
    create_order, create_payment, delete_order, executions, list_orders, show_order,
};
use super::panics;
use super::problem::Problem;

/// Builds the service.
pub(crate) fn router(data: Database) -> Router {
    business()
        // The idempotency layer comes here.
        .layer(middleware::from_fn(authenticate))
        .route("/executions", get(executions))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::disable())
        .layer(panics::catch())
        .with_state(data)
}

fn business() -> Router<Database> {
    Router::new()
        .route("/orders", post(create_order).get(list_orders))
        .route("/orders/{id}", get(show_order).delete(delete_order))
        .route("/payments", post(create_payment))
}

async fn no_route() -> impl IntoResponse {
    let detail = "There are /orders, /orders/{id}, /payments and /executions.";
    Problem::new(StatusCode::NOT_FOUND, "DEMO_NO_ROUTE", "There is no such path", detail)
}

async fn no_method() -> impl IntoResponse {
    let detail = "The header Allow names the methods of this path.";
    let title = "The path doesn't take this method";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "DEMO_NO_METHOD", title, detail)
}
