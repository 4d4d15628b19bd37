//! The order service's own refusals (RFC 9457). They are answers of the
//! handler, so they never carry `Idempotency-Error`: that header is the layer's.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use super::data::DataError;

/// A refusal of the order service.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: String,
    code: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
    #[serde(skip)]
    http: StatusCode,
}

/// One field of a request body that isn't as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FieldError {
    pub(crate) field: &'static str,
    pub(crate) expected: &'static str,
}

impl Problem {
    pub(crate) fn new(
        http: StatusCode,
        code: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        let kind = format!("urn:semel:demo:problem:{code}");
        let status = http.as_u16();
        Self { kind, title, status, detail: detail.into(), code, errors: Vec::new(), http }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.http
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn fields(errors: Vec<FieldError>) -> Self {
        let detail = errors
            .iter()
            .map(|error| format!("{}: {}", error.field, error.expected))
            .collect::<Vec<_>>()
            .join("; ");
        Self { errors, ..Self::unprocessable(detail) }
    }

    pub(crate) fn unprocessable(detail: impl Into<String>) -> Self {
        let title = "The request is understood and refused";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "DEMO_FIELDS", title, detail)
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "DEMO_BAD_REQUEST", "The request can't be read", detail)
    }

    pub(crate) fn no_order(id: i64) -> Self {
        let detail = format!("Order {id} is not there, or not your tenant's.");
        Self::new(StatusCode::NOT_FOUND, "DEMO_NO_ORDER", "There is no such order", detail)
    }

    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        let title = "The order service failed";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "DEMO_INTERNAL", title, detail)
    }
}

impl From<DataError> for Problem {
    fn from(error: DataError) -> Self {
        tracing::error!(%error, "the order data failed");
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "DEMO_DATA",
            "The order data can't be used",
            "The log of the service says why.",
        )
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Strings and numbers only: this can't fail, and an empty body would still be a refusal.
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.http;
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}
