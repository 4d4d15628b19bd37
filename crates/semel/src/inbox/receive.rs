//! A message that was delivered, and its work.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use semel_core::cocommit::TransactionHandle;

use super::delivery::{Delivery, count};
use super::door::Inbox;
use super::envelope::Envelope;
use super::error::InboxError;
use super::run::{Panics, Running};
use super::start::{Started, start};
use crate::once::Permit;

impl Inbox {
    /// A message that was delivered.
    pub const fn receive<'a>(&'a self, envelope: &'a Envelope) -> Receive<'a> {
        Receive { inbox: self, envelope }
    }
}

/// A message that was delivered.
#[derive(Debug, Clone, Copy)]
#[must_use = "nothing runs until run()"]
pub struct Receive<'a> {
    pub(super) inbox: &'a Inbox,
    pub(super) envelope: &'a Envelope,
}

impl Receive<'_> {
    /// Does the message's work, unless it was done or is being done.
    ///
    /// A first delivery costs two round trips to the store, and one more where nobody said that it
    /// is [the first](super::Redelivery::No); a duplicate costs one, or two.
    ///
    /// The work fails by returning an error, or by panicking; then it leaves no mark but a count,
    /// and the next delivery runs. Work that wants its message to be put aside at once, because it
    /// can never succeed, returns an error too, and its consumer dead-letters what failed so.
    ///
    /// # Errors
    ///
    /// [`InboxError`]: put the message back.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and where the work panics.
    ///
    /// # Cancel safety
    ///
    /// Dropped while the work runs, the work is cut off: that counts as an attempt that crashed,
    /// and the next delivery is put off until the lease ends. Dropped after the work ended, its end
    /// is recorded all the same, in the background. Dropped before the work began, it leaves
    /// nothing behind.
    pub async fn run<E, W>(self, work: W) -> Result<Delivery<E>, InboxError<E>>
    where
        W: AsyncFnOnce(Permit) -> Result<(), E>,
    {
        if self.needs_transaction() {
            return Err(InboxError::WrongGuarantee);
        }
        self.delivered(Panics::GoOn, |permit, _| work(permit)).await
    }

    /// Does the message's work in a transaction of the store, under
    /// [`Guarantee::Transactional`](crate::Guarantee::Transactional): what the work writes with
    /// the handle commits in one step with the record that the message was handled, or not at all.
    ///
    /// The handle must be gone when the work ends. Ask it for the type of the store that the
    /// engine is over, such as `semel_sqlite::Tx` or `semel_postgres::Tx`.
    ///
    /// A consumer that dies takes its transaction with it, and the next delivery runs at once. That
    /// leaves nothing to count, so an attempt is counted before it begins (two round trips), unless
    /// the delivery is [the first](super::Redelivery::No).
    ///
    /// # Errors
    ///
    /// [`InboxError`]: put the message back.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and where the work panics.
    ///
    /// # Cancel safety
    ///
    /// Dropped while the work runs, everything that it wrote is taken back; the attempt stays
    /// counted. Dropped after the work ended, it is committed all the same, in the background.
    pub async fn run_in_transaction<E, W>(self, work: W) -> Result<Delivery<E>, InboxError<E>>
    where
        W: AsyncFnOnce(Permit, TransactionHandle) -> Result<(), E>,
    {
        if !self.needs_transaction() {
            return Err(InboxError::WrongGuarantee);
        }
        self.delivered(Panics::GoOn, |permit, transaction| work(permit, there(transaction))).await
    }

    pub(super) fn needs_transaction(&self) -> bool {
        self.inbox.0.policy.guarantee().needs_transaction()
    }

    pub(super) async fn delivered<E, W, F>(
        self,
        panics: Panics,
        work: W,
    ) -> Result<Delivery<E>, InboxError<E>>
    where
        W: FnOnce(Permit, Option<TransactionHandle>) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let delivered = self.attempt(panics, work).await;
        count(&delivered);
        delivered
    }

    async fn attempt<E, W, F>(self, panics: Panics, work: W) -> Result<Delivery<E>, InboxError<E>>
    where
        W: FnOnce(Permit, Option<TransactionHandle>) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let (call, counter) = self.inbox.call(self.envelope).map_err(InboxError::Unavailable)?;
        match start(self.inbox, &call, &counter, self.envelope.redelivery).await? {
            Started::Settled(delivery) => Ok(delivery),
            Started::Unprotected => {
                let run = AssertUnwindSafe(async { work(Permit::unprotected(&call), None).await });
                match run.catch_unwind().await {
                    Ok(Ok(())) => Ok(Delivery::Unprotected),
                    Ok(Err(error)) => Err(InboxError::Failed { error, attempts: 1 }),
                    Err(panic) => Err(panics.end(panic)),
                }
            }
            Started::Fresh(claim, tally) => {
                let running = Running { inbox: self.inbox.clone(), call, counter, tally };
                running.work(claim, panics, work).await
            }
        }
    }
}

/// The transaction of work that runs in one.
pub(super) fn there(transaction: Option<TransactionHandle>) -> TransactionHandle {
    transaction.expect("a claim under this guarantee has its transaction")
}
