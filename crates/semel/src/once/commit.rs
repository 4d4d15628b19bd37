//! A claim that was made in a transaction of the store's, and ends with that.

use std::sync::Arc;

use semel_core::cocommit::{CommitError, TransactionHandle};
use semel_core::{Outcome, Ttl};
use tokio::time::Instant;

use super::call::Call;
use super::claim::Claim;
use super::engine::Once;
use super::finished::{Finished, NotCommitted};
use super::held::Held;
use super::in_transaction::InTransaction;

impl Claim {
    pub(super) fn in_transaction(
        once: &Once,
        call: &Call,
        transaction: Box<InTransaction>,
        asked: Instant,
    ) -> Self {
        let claimed = transaction.claimed();
        let (claim, fence) = (claimed.claim().clone(), claimed.fence());
        // Nobody else sees it, so nobody takes it over: it lasts as long as its transaction.
        let lease = (Ttl::MAX, Ttl::MAX.as_duration());
        let policy = Arc::clone(&call.policy);
        let held = Arc::new(Held::new(call.at.clone(), claim, fence, lease, policy.keep, asked));
        Self { once: once.clone(), policy, held, place: None, transaction: Some(transaction) }
    }

    /// What the work writes its rows with, so that they commit together with its record; none
    /// unless the guarantee is [`Transactional`](crate::Guarantee::Transactional).
    ///
    /// It must be gone, with all its clones, when the outcome is recorded.
    #[must_use]
    pub fn transaction(&self) -> Option<TransactionHandle> {
        self.transaction.as_ref().map(|transaction| transaction.handle())
    }

    /// Whether an end that is no answer takes everything back that the work did: until something
    /// is recorded, where there is a transaction.
    #[must_use]
    pub const fn can_take_back(&self) -> bool {
        self.transaction.is_some()
    }

    /// The outcome is a failure: where there is a transaction, what the work wrote in it is taken
    /// back, and the outcome alone is recorded.
    pub fn take_rows_back(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.take_rows_back();
        }
    }

    pub(super) async fn commit(
        &self,
        transaction: InTransaction,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Finished {
        match transaction.commit(outcome, less).await {
            Ok(finished) => {
                self.held.finish();
                finished
            }
            Err((why, error)) => {
                self.not_committed(why, &error);
                Finished::NotCommitted(why)
            }
        }
    }

    /// Takes rows and claim back. An error changes nothing about that.
    pub(super) async fn roll_back(&self, transaction: InTransaction) {
        self.held.finish();
        if let Err(error) = transaction.roll_back().await {
            tracing::debug!(key = %self.held.at.digest, %error, "a rollback was not acknowledged");
        }
    }

    fn not_committed(&self, why: NotCommitted, error: &CommitError) {
        metrics::counter!("semel_not_committed_total").increment(1);
        tracing::error!(
            key = %self.held.at.digest,
            operation = %self.held.claim.operation,
            ?why,
            error = error as &dyn std::error::Error,
            "a call's transaction was not committed"
        );
    }
}
