//! Co-commit: the claim, the caller's rows and the recorded outcome in one transaction.

#[cfg(feature = "axum")]
mod axum;
mod begin;
mod calls;
mod commit;
mod door;
mod open;
mod owned;
mod settle;
#[cfg(feature = "sqlx")]
mod sqlx;
mod swaps;
mod tx;
mod work;

#[cfg(feature = "axum")]
pub use axum::NoTx;
pub use calls::Transactional;
pub use owned::OwnedWork;
#[cfg(feature = "sqlx")]
pub use sqlx::SqlxWork;
#[cfg(feature = "sqlx")]
pub(crate) use sqlx::in_transaction as in_sqlx_transaction;
pub use tx::Tx;
pub use work::Work;
