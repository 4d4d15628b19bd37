//! Idempotency for gRPC services: a tower layer for tonic.

mod answer;
mod body;
mod codes;
mod crossing;
mod failures;
mod fingerprint;
mod frame;
mod future;
mod layer;
mod media;
mod methods;
mod presented;
mod service;

pub use answer::ERROR_DOMAIN;
pub use body::GrpcBody;
pub use crossing::{Crossing, Crossings};
pub use failures::GrpcFailures;
pub use fingerprint::GrpcFingerprint;
pub use future::GrpcFuture;
pub use layer::GrpcIdempotencyLayer;
pub use methods::OtherMethods;
pub use presented::{Presented, PresentedBody, PresentedFuture};
pub use service::GrpcIdempotency;
