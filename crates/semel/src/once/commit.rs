//! A claim that was made in a transaction of the store's, and ends with that.

use std::sync::Arc;

use semel_core::cocommit::{CommitError, OpenCall, Recorded, TransactionHandle};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreError, Ttl};
use tokio::time::Instant;

use super::call::Call;
use super::claim::Claim;
use super::engine::Once;
use super::finish::Finished;
use super::held::Held;
use super::turns::Turn;

/// The transaction that a claim was made in.
#[derive(Debug)]
pub(super) struct InTransaction {
    open: Box<dyn OpenCall>,
    rows: Rows,
    _turn: Turn,
}

/// What becomes of the rows when the outcome is recorded.
#[derive(Debug, Clone, Copy)]
enum Rows {
    Committed,
    TakenBack,
}

/// Why a call's transaction is not known to be committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotCommitted {
    /// It was rolled back: neither rows nor record are there, and a retry runs.
    RolledBack,
    /// The same, because the work's handle to it was still held somewhere after the work had
    /// ended, by a task that was spawned or a body that is still being made: what it had written
    /// may not have been all.
    HandleKept,
    /// That could not be found out. Rows and record are there together or not at all; a retry
    /// finds the answer, or runs.
    Unknown,
}

impl InTransaction {
    pub(super) fn new(open: Box<dyn OpenCall>, turn: Turn) -> Box<Self> {
        Box::new(Self { open, rows: Rows::Committed, _turn: turn })
    }
}

impl Claim {
    pub(super) fn in_transaction(
        once: &Once,
        call: &Call,
        transaction: Box<InTransaction>,
        asked: Instant,
    ) -> Self {
        let claimed = transaction.open.claimed();
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
        self.transaction.as_ref().map(|transaction| transaction.open.handle())
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
            transaction.rows = Rows::TakenBack;
        }
    }

    pub(super) async fn commit(
        &self,
        transaction: InTransaction,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Finished {
        let InTransaction { open, rows, _turn } = transaction;
        let finished = match rows {
            Rows::Committed => committed(open.commit(outcome, less).await),
            Rows::TakenBack => refused(open.refuse(outcome).await),
        };
        match finished {
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
        if let Err(error) = transaction.open.rollback().await {
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

type Ended = Result<Finished, (NotCommitted, CommitError)>;

fn committed(commit: Result<Recorded, CommitError>) -> Ended {
    match commit {
        Ok(Recorded::Whole) => Ok(Finished::Recorded),
        Ok(Recorded::InPart) => Ok(Finished::RecordedInPart),
        Err(error @ CommitError::HandleKept) => Err((NotCommitted::HandleKept, error)),
        Err(error @ CommitError::RolledBack(_)) => Err((NotCommitted::RolledBack, error)),
        // Of an error that this version does not know nothing can be concluded either.
        Err(error) => Err((NotCommitted::Unknown, error)),
    }
}

/// The rows are taken back in any case.
fn refused(refuse: Result<Completed, StoreError>) -> Ended {
    match refuse {
        Ok(Completed::Recorded) => Ok(Finished::Recorded),
        Ok(Completed::Superseded(successor)) => Ok(Finished::Superseded(successor)),
        Err(error) => Err((NotCommitted::RolledBack, CommitError::RolledBack(error))),
    }
}
