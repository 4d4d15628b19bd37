//! A store from its URL.

use std::sync::Arc;

use semel_core::{MemoryStore, Store, StoreError};

use crate::sweep::sweep;
use crate::timer::SystemClock;

/// Opens the store that a URL names, and sweeps it in the background as long as it is held.
///
/// | URL | store | built in with |
/// | --- | --- | --- |
/// | `memory:` | this process's memory; forgotten when it ends | always |
/// | `sqlite:FILE` | one file, durable, several processes on one machine | feature `sqlite` (default) |
///
/// `FILE` is a path, absolute (`sqlite:/var/lib/orders.db`) or not (`sqlite:orders.db`); `//` before
/// it is passed over. It takes no parameters.
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
    let (scheme, rest) = url.split_once(':').ok_or(OpenError::NoScheme)?;
    let store: Arc<dyn Store> = match &*scheme.to_ascii_lowercase() {
        "memory" if rest.is_empty() => Arc::new(MemoryStore::new(SystemClock::new())),
        "memory" => return Err(OpenError::Malformed { scheme: "memory", takes: "memory:" }),
        "sqlite" => open_sqlite(rest).await?,
        other if is_kind(other) => return Err(OpenError::UnknownScheme { scheme: other.into() }),
        _ => return Err(OpenError::NoScheme),
    };
    tokio::spawn(sweep(Arc::downgrade(&store)));
    Ok(store)
}

/// Whether this looks like a kind of store, and may be shown. What comes before the first `:` may
/// as well be a part of somebody's credentials.
fn is_kind(scheme: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c == '+' || c == '-';
    !scheme.is_empty() && scheme.len() <= 20 && scheme.chars().all(letters)
}

#[cfg(feature = "sqlite")]
async fn open_sqlite(rest: &str) -> Result<Arc<dyn Store>, OpenError> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    // SQLite's own URIs take parameters behind a `?`. Here they would become a part of the name.
    if path.is_empty() || path.contains('?') {
        return Err(OpenError::Malformed { scheme: "sqlite", takes: "sqlite:FILE" });
    }
    Ok(Arc::new(semel_sqlite::SqliteStore::open(path).await?))
}

#[cfg(not(feature = "sqlite"))]
async fn open_sqlite(_: &str) -> Result<Arc<dyn Store>, OpenError> {
    Err(OpenError::NotBuiltIn { scheme: "sqlite", feature: "sqlite" })
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No `:` in it.
    #[error("a store's URL begins with its kind: `memory:`, `sqlite:FILE`")]
    NoScheme,
    /// A kind that nobody knows.
    #[error("there is no store of kind `{scheme}`; there are `memory:` and `sqlite:FILE`")]
    UnknownScheme {
        /// The kind that was asked for.
        scheme: String,
    },
    /// A kind that this build leaves out.
    #[error("`{scheme}:` is not built in; build with feature `{feature}`")]
    NotBuiltIn {
        /// The kind that was asked for.
        scheme: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// The right kind, written wrong.
    #[error("this is no URL of a `{scheme}` store; it is written `{takes}`")]
    Malformed {
        /// The kind.
        scheme: &'static str,
        /// How it is written.
        takes: &'static str,
    },
    /// The store itself refused.
    #[error("the store could not be opened")]
    Store(#[from] StoreError),
}
