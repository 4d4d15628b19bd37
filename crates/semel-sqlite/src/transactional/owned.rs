//! Work in a transaction on a connection and a thread of its own.

use std::fmt;
use std::sync::{Arc, mpsc};
use std::thread;

use rusqlite::Connection;
use semel_core::cocommit::{Began, Call, Claimed, CommitError, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreError, StoreResult, Version};
use tokio::sync::{OwnedMutexGuard, oneshot};

use super::calls::Transactional;
use super::orders::{Order, Orders};
use super::tx::Tx;
use super::work::Work;

/// A call that may run, with a transaction, a connection and a thread of its own.
///
/// Dropped, the transaction is rolled back: neither rows nor claim are left.
#[must_use = "work that is dropped is rolled back"]
pub struct OwnedWork {
    orders: Arc<Orders>,
    claimed: Claimed,
}

impl OwnedWork {
    pub(super) async fn begin(of: &Transactional, call: &Call) -> StoreResult<Began<Self>> {
        let slot = Arc::clone(&of.owned).lock_owned().await;
        let (began, beginning) = oneshot::channel();
        let (orders, ordered) = mpsc::channel();
        let (of, call) = (of.clone(), call.clone());
        thread::Builder::new()
            .name("semel-sqlite-call".to_owned())
            .spawn(move || run(&of, slot, &call, began, &ordered))
            .map_err(|error| {
                StoreError::not_applied("a transaction can't have a thread").caused_by(error)
            })?;
        let began = beginning.await.map_err(|_| gone())??;
        Ok(began.map(|claimed| Self { orders: Arc::new(Orders(orders)), claimed }))
    }

    /// The transaction, for whoever does the work.
    #[must_use]
    pub fn tx(&self) -> Tx {
        Tx::new(&self.orders)
    }

    /// The claim.
    pub const fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// The claim's fencing token.
    #[must_use]
    pub const fn fence(&self) -> Version {
        self.claimed.fence()
    }

    /// Records the outcome and commits it together with the rows, as [`Work::commit_or`] does.
    ///
    /// # Errors
    ///
    /// As there, and [`CommitError::HandleKept`] as long as there is a [`Tx`].
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the transaction is committed all the same, or not.
    pub async fn commit_or(
        self,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> Result<Recorded, CommitError> {
        if Arc::strong_count(&self.orders) > 1 {
            self.rollback().await.ok();
            return Err(CommitError::HandleKept);
        }
        let committed = self.order(|reply| Order::Commit(outcome, less, reply)).await;
        // A thread that is gone had begun: what it came to is in the file.
        committed.map_err(CommitError::Unknown)?
    }

    /// Takes the rows back and records the outcome alone: see [`Work::refuse`].
    ///
    /// # Errors
    ///
    /// The store's. The rows are taken back in any case.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, it is done all the same, or not: the rows are taken back.
    pub async fn refuse(self, outcome: Outcome) -> StoreResult<Completed> {
        self.order(|reply| Order::Refuse(outcome, reply)).await?
    }

    /// Takes rows and claim back: the key is free.
    ///
    /// # Errors
    ///
    /// The store's, when the disk fails.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, it is done all the same.
    pub async fn rollback(self) -> StoreResult<()> {
        self.order(Order::RollBack).await?
    }

    async fn order<T>(self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> StoreResult<T> {
        let (reply, answer) = oneshot::channel();
        self.orders.0.send(order(reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())
    }
}

impl Drop for OwnedWork {
    /// A handle that is still held somewhere must not keep the transaction open. After any other
    /// end there is nobody to be told.
    fn drop(&mut self) {
        self.orders.0.send(Order::RollBack(oneshot::channel().0)).ok();
    }
}

fn gone() -> StoreError {
    StoreError::unknown("the thread of a transaction is gone")
}

impl fmt::Debug for OwnedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedWork").field("claimed", &self.claimed).finish_non_exhaustive()
    }
}

// ===== the thread =====

fn run(
    of: &Transactional,
    mut slot: OwnedMutexGuard<Option<Connection>>,
    call: &Call,
    began: oneshot::Sender<StoreResult<Began<Claimed>>>,
    orders: &mpsc::Receiver<Order>,
) {
    let connected = slot.take().map_or_else(|| of.connect(), Ok);
    let db = match connected {
        Ok(db) => db,
        Err(error) => return drop(began.send(Err(error))),
    };
    match of.begin(&db, call) {
        Ok(Began::Fresh(work)) => {
            // Who asked may be gone: then nobody orders anything, and it is rolled back.
            if began.send(Ok(Began::Fresh(work.claimed().clone()))).is_ok() {
                obey(work, orders);
            }
        }
        Ok(settled) => drop(began.send(Ok(settled.map(|work| work.claimed().clone())))),
        Err(error) => drop(began.send(Err(error))),
    }
    // What is not whole is closed instead, and with it whatever was open.
    *slot = Some(db).filter(Connection::is_autocommit);
}

fn obey(work: Work<'_>, orders: &mpsc::Receiver<Order>) {
    for order in orders {
        match order {
            Order::Run(run) => run(work.connection()),
            Order::Commit(outcome, less, reply) => {
                return drop(reply.send(work.commit_or(outcome, less)));
            }
            Order::Refuse(outcome, reply) => return drop(reply.send(work.refuse(outcome))),
            Order::RollBack(reply) => return drop(reply.send(work.rollback())),
        }
    }
}
