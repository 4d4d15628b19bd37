//! The routes.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use semel_http::IdempotencyLayer;

use super::document::document;
use super::page::page;
use crate::commands::demo::data::Database;

const STYLE: &str = include_str!("style.css");

/// Nothing but this service's own style sheet is loaded, nothing is run, nothing is sent, and
/// nobody puts the page into a frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// `/openapi.json`, `/docs` and its style sheet.
pub(crate) fn routes(layer: &IdempotencyLayer) -> Router<Database> {
    let document = match document(layer) {
        Ok(document) => document,
        Err(error) => {
            tracing::error!(%error, "the service can't be described");
            return Router::new();
        }
    };
    // Names, texts and numbers: neither form can fail.
    let value = serde_json::to_value(&document).unwrap_or_default();
    let json = Bytes::from(value.to_string());
    let page = Bytes::from(page(&value));
    Router::new()
        .route("/openapi.json", get(async move || answer("application/json", json.clone())))
        .route("/docs", get(async move || answer("text/html; charset=utf-8", page.clone())))
        .route(
            "/docs/style.css",
            get(async || answer("text/css", Bytes::from_static(STYLE.as_bytes()))),
        )
}

fn answer(media_type: &'static str, body: Bytes) -> Response {
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, body).into_response()
}
