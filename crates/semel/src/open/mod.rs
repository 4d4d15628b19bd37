//! A store from its URL.

mod error;
mod kind;

pub use error::OpenError;

use std::sync::Arc;

use semel_core::cocommit::Transactions;
use semel_core::{Preflight, Store};

use crate::sweep::sweep;
use kind::Kind;

/// Opens the store that a URL names, and sweeps it in the background as long as it is held.
///
/// | URL | store | built in with |
/// | --- | --- | --- |
/// | `memory:` | this process's memory; forgotten when it ends | always |
/// | `sqlite:FILE` | one file, durable, several processes on one machine | feature `sqlite` (default) |
/// | `redis://…`, `rediss://…`, `redis-sentinel://…`, `redis-cluster://…` | Redis or Valkey, many machines | feature `redis` |
/// | `postgres://…` | PostgreSQL, many machines | feature `postgres` |
///
/// `FILE` is a path, absolute (`sqlite:/var/lib/orders.db`) or not (`sqlite:orders.db`); `//` before
/// it is passed over. It takes no parameters. What the URLs of servers take is on their crates'
/// pages.
///
/// # Errors
///
/// [`OpenError`]: no such kind of store, one that is not built in, or the store's own refusal.
/// No message repeats the URL: it may hold a password.
///
/// # Panics
///
/// Outside a tokio runtime.
///
/// # Cancel safety
///
/// Dropped, it leaves nothing open; a file may have been made.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    let store = Kind::of(url)?.open(url).await?;
    tokio::spawn(sweep(Arc::downgrade(&store)));
    Ok(store)
}

/// Opens the store that a URL names for calls of the guarantee
/// [`Transactional`](crate::Guarantee::Transactional), and sweeps it in the background as long as
/// it is held: `postgres:` and `sqlite:` can have it.
///
/// ```no_run
/// use semel::{Once, open_with_transactions};
///
/// # async fn show() -> Result<(), semel::OpenError> {
/// let once = Once::with_transactions(open_with_transactions("postgres://db/shop").await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`open`], and [`OpenError::NoTransactions`] for the other kinds of stores.
///
/// # Panics
///
/// Outside a tokio runtime.
///
/// # Cancel safety
///
/// As [`open`].
pub async fn open_with_transactions(url: &str) -> Result<Arc<dyn Transactions>, OpenError> {
    let transactions = Kind::of(url)?.open_with_transactions(url).await?;
    tokio::spawn(sweep(Arc::downgrade(&transactions.store())));
    Ok(transactions)
}

/// What the store that a URL names promises as it is configured, what it does not, and what to
/// change. A store that would be refused is examined as well: its verdict says so.
///
/// # Errors
///
/// [`OpenError`], when the store can't be reached or examined at all.
///
/// # Panics
///
/// Outside a tokio runtime.
///
/// # Cancel safety
///
/// Dropped, it leaves nothing open.
pub async fn preflight(url: &str) -> Result<Preflight, OpenError> {
    Kind::of(url)?.preflight(url).await
}
