//! Why a store could not be opened.

use semel_core::StoreError;

const KINDS: &str = "`memory:`, `sqlite:FILE`, `redis://HOST`, `rediss://HOST`, \
                     `redis-sentinel://HOST`, `redis-cluster://HOST`, `postgres://HOST/DATABASE`";

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No `:` in it.
    #[error("a store's URL begins with its kind: {KINDS}")]
    NoScheme,
    /// A kind that nobody knows.
    #[error("there is no store of kind `{scheme}`; there are {KINDS}")]
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
    /// A kind whose records can't commit together with rows of the application's.
    #[error(
        "a `{scheme}:` store has no transactions that records and rows could commit in; \
         `postgres:` and `sqlite:` have"
    )]
    NoTransactions {
        /// The kind that was asked for.
        scheme: &'static str,
    },
    /// The store itself refused.
    #[error("the store could not be opened")]
    Store(#[from] StoreError),
}
