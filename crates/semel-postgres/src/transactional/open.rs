//! A connection with an open transaction.

use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::Object;
use semel_core::{StoreError, StoreResult};
use tokio_postgres::Client;

use crate::failure;
use crate::pool::Loan;
use crate::timer;

/// How long one waits to hear that a transaction was rolled back. It is, either way.
const PATIENCE: Duration = Duration::from_secs(1);

/// A connection with an open transaction. It goes back to the pool only after that has ended;
/// dropped before, it is cut, and the server takes the transaction back.
pub(super) struct Open(Option<Loan>);

impl Open {
    pub(super) const fn new(loan: Loan) -> Self {
        Self(Some(loan))
    }

    pub(super) fn client(&self) -> StoreResult<&Client> {
        let loan = self.0.as_ref().ok_or_else(|| StoreError::not_applied("the work has ended"))?;
        Ok(loan.client())
    }

    pub(super) async fn rollback(self) -> StoreResult<()> {
        let ended = timer::within(PATIENCE, self.client()?.batch_execute("ROLLBACK")).await;
        let late = || StoreError::not_applied("the rollback was not acknowledged in time");
        ended.ok_or_else(late)?.map_err(failure::in_transaction)?;
        drop(self.close());
        Ok(())
    }

    /// The connection, after its transaction has ended.
    pub(super) fn close(mut self) -> Option<Loan> {
        self.0.take()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(loan) = self.0.take() {
            Object::take(loan).cut();
        }
    }
}

/// The work's own hold on a connection that handles may share. However the work ends, nobody uses
/// the connection after it: under whoever still holds a handle it is cut.
pub(super) struct Hold(Option<Arc<Open>>);

impl Hold {
    pub(super) fn of(open: Open) -> Self {
        Self(Some(Arc::new(open)))
    }

    pub(super) fn shared(&self) -> &Arc<Open> {
        self.0.as_ref().expect("it is there until it is taken")
    }

    /// The connection, if nobody else holds it any more.
    pub(super) fn alone(mut self) -> Option<Open> {
        match Arc::try_unwrap(self.0.take()?) {
            Ok(open) => Some(open),
            Err(shared) => {
                self.0 = Some(shared);
                None
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(Open(Some(loan))) = self.0.as_deref() {
            loan.shut();
        }
    }
}
