//! The transaction as an argument of a handler under axum.

use axum_core::extract::{FromRequestParts, OptionalFromRequestParts};
use axum_core::response::{IntoResponse, Response};
use http::StatusCode;
use http::request::Parts;
use semel_core::cocommit::TransactionHandle;

use super::tx::Tx;

/// A handler asked for a transaction, and its request has none: no idempotency layer with the
/// guarantee `transactional` over this kind of store is around the route, or the request brings no
/// key. A fault of the service: 500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this request runs in no transaction of PostgreSQL")]
pub struct NoTx;

impl IntoResponse for NoTx {
    fn into_response(self) -> Response {
        tracing::error!(
            "a handler asks for a transaction where there is none: put an idempotency layer with \
             the guarantee `transactional` around its route, and require a key"
        );
        let detail = "The service has no transaction to carry out this request in.";
        (StatusCode::INTERNAL_SERVER_ERROR, detail).into_response()
    }
}

fn of(parts: &Parts) -> Option<Tx> {
    parts.extensions.get::<TransactionHandle>()?.get::<Tx>().cloned()
}

impl<S: Send + Sync> FromRequestParts<S> for Tx {
    type Rejection = NoTx;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, NoTx> {
        of(parts).ok_or(NoTx)
    }
}

/// None where the request brings no key and need not: then nothing is protected.
impl<S: Send + Sync> OptionalFromRequestParts<S> for Tx {
    type Rejection = NoTx;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, NoTx> {
        Ok(of(parts))
    }
}
