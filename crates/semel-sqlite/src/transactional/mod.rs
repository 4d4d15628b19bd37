//! Co-commit: the claim, the caller's rows and the recorded outcome in one transaction.

#[cfg(feature = "axum")]
mod axum;
mod begin;
mod calls;
mod door;
mod orders;
mod owned;
mod tx;
mod work;

#[cfg(feature = "axum")]
pub use axum::NoTx;
pub use calls::Transactional;
pub use owned::OwnedWork;
pub use tx::Tx;
pub use work::Work;
