//! What a door needs of a store with transactions: one that opens a transaction for each call,
//! hands it to the call's work and ends it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::began::Began;
use super::call::Call;
use super::claimed::Claimed;
use super::commit::{CommitError, Recorded};
use crate::protocol::Completed;
use crate::record::Outcome;
use crate::store::{Store, StoreResult};

/// A store's transactions, each on a connection of the store's own.
#[async_trait]
pub trait Transactions: fmt::Debug + Send + Sync {
    /// The store that the records are in: the same each time.
    fn store(&self) -> Arc<dyn Store>;

    /// Begins a call in a transaction that is opened for it. Where the call does not begin, no
    /// transaction stays open.
    ///
    /// For another transaction that has claimed the same key it waits at the store, for `wait` and
    /// as far as the store can: what it comes to then is [`Began::Uncommitted`].
    ///
    /// # Errors
    ///
    /// The store's. No transaction stays open.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the transaction is rolled back.
    async fn begin(&self, call: &Call, wait: Duration) -> StoreResult<Began<Box<dyn OpenCall>>>;
}

/// A call that may run, and the open transaction that it runs in.
///
/// Dropped, the transaction is rolled back: neither rows nor claim are left.
#[async_trait]
#[must_use = "a call that is dropped is rolled back"]
pub trait OpenCall: fmt::Debug + Send + Sync {
    /// The claim.
    fn claimed(&self) -> &Claimed;

    /// What the work writes its rows with.
    fn handle(&self) -> TransactionHandle;

    /// Records the outcome and commits it together with the rows.
    ///
    /// Of an outcome that the store takes no value for because it is too large, `less` is recorded
    /// instead, or that the work ran. When the acknowledgement of the commit is lost, what became
    /// of it is found out.
    ///
    /// # Errors
    ///
    /// [`CommitError`]. A handle that is still held somewhere is one: who holds it may be about to
    /// write.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the transaction was committed or not, as a whole.
    async fn commit(
        self: Box<Self>,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Result<Recorded, CommitError>;

    /// Takes the rows back and records the outcome alone: for a failure that is final.
    ///
    /// # Errors
    ///
    /// The store's. The rows are taken back in any case.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the rows are taken back; the outcome may be recorded or not.
    async fn refuse(self: Box<Self>, outcome: Outcome) -> StoreResult<Completed>;

    /// Takes rows and claim back: the key is free.
    ///
    /// # Errors
    ///
    /// The store's. They are taken back all the same, if later.
    async fn rollback(self: Box<Self>) -> StoreResult<()>;
}

/// What the work of a call writes its rows with, whichever store it is of.
///
/// A door hands it to the work, which asks for the type that its store gives out: `Tx` of that
/// store's crate. It must not outlive the work: a commit under a handle that somebody still holds
/// is refused.
#[derive(Clone)]
pub struct TransactionHandle(Arc<dyn Any + Send + Sync>);

impl TransactionHandle {
    /// A handle of a store's own type.
    pub fn new(handle: impl Any + Send + Sync) -> Self {
        Self(Arc::new(handle))
    }

    /// The handle, if it is of this type.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for TransactionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransactionHandle").finish_non_exhaustive()
    }
}
