//! OpenAPI: what the layer does to an operation, as its document says it.
//!
//! A document made with `utoipa` says what handlers do. That a request needs a key, that its answer
//! may be a replay, and what the layer refuses before the handler, no handler knows: the layer adds
//! it, from its own settings, so that the document and the layer can't disagree.
//!
//! ```
//! use http::Method;
//! use semel::Once;
//! use semel_http::IdempotencyLayer;
//! use utoipa::openapi::path::{OperationBuilder, PathItem, PathsBuilder};
//! use utoipa::openapi::{HttpMethod, OpenApiBuilder, Response};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # let once = Once::new(semel::open("memory:").await?);
//! let layer = IdempotencyLayer::new(once);
//!
//! // From the macros of `utoipa`, or by hand:
//! let create = OperationBuilder::new().response("201", Response::new("The order."));
//! let mut document = OpenApiBuilder::new()
//!     .paths(PathsBuilder::new().path("/orders", PathItem::new(HttpMethod::Post, create)))
//!     .build();
//!
//! layer.describe(&mut document, "/orders", &Method::POST)?;
//! // The same layer then goes around the route.
//! # Ok(())
//! # }
//! ```
//!
//! # What is added
//!
//! | to | what | when |
//! | --- | --- | --- |
//! | parameters | each header that a key may stand in, with form, length and an example; `baggage` where no header can | the first is required if the policy requires a key |
//! | answers that may be recorded | `Idempotent-Replayed` (or as the settings name it), `Idempotency-Durable`, `Idempotency-Unprotected` | as [`Failures`](crate::Failures) judges their status; the last where a store that is down lets requests pass |
//! | 400 | `CACHING_VALIDATION_001`, `_002`, `_004` | the second where a key is required, the third where old keys are detected |
//! | 409 | `CACHING_CONFLICT_002`, `_003`, `_004` | the last where calls may stay in doubt |
//! | 413 | `CACHING_VALIDATION_005` | always |
//! | 422 | `CACHING_VALIDATION_003` | unless the fingerprint is off |
//! | 500 | a problem without a code | where exceptions are recorded |
//! | 503 | `CACHING_UNAVAILABLE_001`, `_002` | always |
//! | components | the schema `SemelProblem` (RFC 9457) | once |
//!
//! The statuses are those of the settings: a preset that answers 400 where the default is 422 is
//! described so. Each problem has an example, which is made as the real ones are. Refusals have the
//! headers `Idempotency-Error`, `Content-Language` and, where a first call may still run,
//! `Retry-After`. What the document says of a status already stays beside it.
//!
//! # When not
//!
//! Not for operations that the layer lets pass: [`IdempotencyLayer::describe`] refuses them, for a
//! document that promises what nobody keeps is worse than none. A route with a layer of its own is
//! described by that one.
//!
//! [`IdempotencyLayer::describe`]: crate::IdempotencyLayer::describe

mod answers;
mod codes;
mod describe;
mod parameter;
mod pattern;
mod problems;
#[cfg(test)]
mod tests;

pub use describe::DescribeError;
