//! The transaction that a claim was made in.

use semel_core::cocommit::{Claimed, CommitError, OpenCall, Recorded, TransactionHandle};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreError};

use super::finished::{Finished, NotCommitted};
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

impl InTransaction {
    pub(super) fn new(open: Box<dyn OpenCall>, turn: Turn) -> Box<Self> {
        Box::new(Self { open, rows: Rows::Committed, _turn: turn })
    }

    pub(super) fn claimed(&self) -> &Claimed {
        self.open.claimed()
    }

    pub(super) fn handle(&self) -> TransactionHandle {
        self.open.handle()
    }

    /// What the work wrote is taken back, whatever is recorded.
    pub(super) const fn take_rows_back(&mut self) {
        self.rows = Rows::TakenBack;
    }

    pub(super) async fn commit(self, outcome: Outcome, less: Option<Outcome>) -> Ended {
        match self.rows {
            Rows::Committed => committed(self.open.commit(outcome, less).await),
            Rows::TakenBack => refused(self.open.refuse(outcome).await),
        }
    }

    pub(super) async fn roll_back(self) -> Result<(), StoreError> {
        self.open.rollback().await
    }
}

/// How it ended: recorded somehow, or why not.
pub(super) type Ended = Result<Finished, (NotCommitted, CommitError)>;

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
