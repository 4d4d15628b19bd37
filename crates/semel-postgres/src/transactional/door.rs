//! What doors see of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use semel_core::cocommit::{
    Began, Call, Claimed, CommitError, OpenCall, Recorded, TransactionHandle, Transactions,
};
use semel_core::protocol::Completed;
use semel_core::{Outcome, Store, StoreResult};

use super::calls::Transactional;
use super::owned::OwnedWork;

#[async_trait]
impl Transactions for Transactional {
    fn store(&self) -> Arc<dyn Store> {
        Arc::<crate::store::PostgresStore>::clone(&self.store)
    }

    /// It waits for `wait`, whatever [`Transactional::wait`] says, but never longer than a
    /// statement may take.
    async fn begin(&self, call: &Call, wait: Duration) -> StoreResult<Began<Box<dyn OpenCall>>> {
        let began = self.clone().wait(wait).begin_owned(call).await?;
        Ok(began.map(|work| Box::new(work) as Box<dyn OpenCall>))
    }
}

#[async_trait]
impl OpenCall for OwnedWork {
    fn claimed(&self) -> &Claimed {
        OwnedWork::claimed(self)
    }

    fn handle(&self) -> TransactionHandle {
        TransactionHandle::new(self.tx())
    }

    async fn commit(
        self: Box<Self>,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Result<Recorded, CommitError> {
        self.commit_or(outcome, less).await
    }

    async fn refuse(self: Box<Self>, outcome: Outcome) -> StoreResult<Completed> {
        OwnedWork::refuse(*self, outcome).await
    }

    async fn rollback(self: Box<Self>) -> StoreResult<()> {
        OwnedWork::rollback(*self).await
    }
}
