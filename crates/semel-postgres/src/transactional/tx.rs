//! The transaction as the work of a call has it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use tokio_postgres::Client;

use super::open::Open;

/// The open transaction of a call, for whoever does its work: rows that are written with it commit
/// together with the call's record, or not at all.
///
/// It is used as the [`Client`] that it is a handle to. A clone is a second handle. Neither begin,
/// commit nor roll back a transaction on it; savepoints are fine (`SAVEPOINT`, by
/// [`Client::batch_execute`]). A statement that fails makes all after it fail, and the call with
/// them, as always in PostgreSQL: what may fail belongs behind a savepoint.
///
/// The server ends a statement that takes longer than the store's statement timeout, two fifths of
/// its [call timeout](crate::PostgresBuilder::call_timeout).
///
/// It must not be kept past the end of the work: a commit under a handle that is still held
/// somewhere is refused, the connection is cut, and the call fails.
///
/// In a web service the handler gets it from the request, by the extractor for axum (feature
/// `axum`) or from the [`TransactionHandle`](semel_core::cocommit::TransactionHandle) in the
/// request's extensions.
#[derive(Clone)]
pub struct Tx(Arc<Open>);

impl Tx {
    pub(super) fn new(open: &Arc<Open>) -> Self {
        Self(Arc::clone(open))
    }
}

impl Deref for Tx {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.0.client().expect("the connection is there as long as anybody holds it")
    }
}

impl fmt::Debug for Tx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tx").finish_non_exhaustive()
    }
}
