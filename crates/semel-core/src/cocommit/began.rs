//! What a call that began comes to.

use crate::fingerprint::PartName;
use crate::protocol::SeenRecord;
use crate::record::{Operation, Outcome};
use crate::time::{StoreTime, Ttl};

/// What a call that began comes to.
#[derive(Debug)]
#[must_use = "what it comes to decides whether the work may run"]
pub enum Began<W> {
    /// The work may run, in this transaction.
    Fresh(W),
    /// It ran: this is what came of it.
    Replay(Outcome),
    /// It runs elsewhere, outside a transaction.
    InFlight {
        /// What is left of its owner's lease.
        lease_left: Ttl,
    },
    /// It runs in another transaction, which did not end as long as this call waited for it.
    Uncommitted,
    /// The key belongs to another operation.
    KeyReused {
        /// Which.
        recorded: Operation,
    },
    /// The key was used for another request.
    Mismatch {
        /// In which parts it differs.
        differs: Vec<PartName>,
    },
    /// Its outcome can't be known, and it must not run again.
    InDoubt {
        /// When it was last heard of.
        since: StoreTime,
    },
    /// Its outcome can't be known; the application is to say.
    Reconcile(SeenRecord),
}

/// In [`Began`]: no work runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nobody {}

impl<W> Began<W> {
    /// The work, or what it came to without any.
    ///
    /// # Errors
    ///
    /// All that is not [`Began::Fresh`].
    #[expect(clippy::result_large_err, reason = "it is no error, and as large as its work is")]
    pub fn into_work(self) -> Result<W, Began<Nobody>> {
        self.split()
    }

    /// The same with other work.
    pub fn map<V>(self, work: impl FnOnce(W) -> V) -> Began<V> {
        match self.split() {
            Ok(inner) => Began::Fresh(work(inner)),
            Err(settled) => settled,
        }
    }

    #[expect(clippy::result_large_err, reason = "it is no error, and as large as its work is")]
    fn split<V>(self) -> Result<W, Began<V>> {
        Err(match self {
            Self::Fresh(work) => return Ok(work),
            Self::Replay(outcome) => Began::Replay(outcome),
            Self::InFlight { lease_left } => Began::InFlight { lease_left },
            Self::Uncommitted => Began::Uncommitted,
            Self::KeyReused { recorded } => Began::KeyReused { recorded },
            Self::Mismatch { differs } => Began::Mismatch { differs },
            Self::InDoubt { since } => Began::InDoubt { since },
            Self::Reconcile(there) => Began::Reconcile(there),
        })
    }
}

impl Began<Nobody> {
    /// The same, where work could have run.
    pub fn without_work<W>(self) -> Began<W> {
        match self.split() {
            Ok(nobody) => match nobody {},
            Err(settled) => settled,
        }
    }
}
