//! Co-commit: the claim, the caller's rows and the recorded outcome in one transaction.

#[cfg(feature = "axum")]
mod axum;
mod begin;
mod door;
mod owned;
mod tx;
mod work;

#[cfg(feature = "axum")]
pub use axum::NoTx;
pub use begin::Transactional;
pub use owned::OwnedWork;
pub use tx::Tx;
pub use work::Work;
