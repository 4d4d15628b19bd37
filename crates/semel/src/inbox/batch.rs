//! Messages that were delivered together.

use std::num::NonZeroUsize;

use futures_util::{StreamExt, stream};
use semel_core::cocommit::TransactionHandle;

use super::delivery::Delivery;
use super::door::Inbox;
use super::envelope::Envelope;
use super::error::InboxError;
use super::receive::{Receive, there};
use super::run::Panics;
use crate::once::Permit;

impl Inbox {
    /// Messages that were delivered together: each with its envelope, and with whatever its work
    /// is to have of it.
    pub fn receive_batch<M>(
        &self,
        messages: impl IntoIterator<Item = (Envelope, M)>,
    ) -> Batch<'_, M> {
        Batch::new(self, messages.into_iter().collect())
    }
}

/// Messages that were delivered together.
#[derive(Debug)]
#[must_use = "nothing runs until run_each()"]
pub struct Batch<'a, M> {
    inbox: &'a Inbox,
    messages: Vec<(Envelope, M)>,
    at_once: NonZeroUsize,
}

impl<'a, M> Batch<'a, M> {
    pub(super) const fn new(inbox: &'a Inbox, messages: Vec<(Envelope, M)>) -> Self {
        Self { inbox, messages, at_once: NonZeroUsize::MIN }
    }

    /// How many are worked on at once. Default: one after the other, in their order. With more, a
    /// message that stands behind another may be done before it, and of two copies of one message
    /// the second may be [put off](Delivery::Later).
    ///
    /// They all run in the caller's task: more at once help where work waits, not where it
    /// computes.
    pub fn at_once(self, at_once: NonZeroUsize) -> Self {
        Self { at_once, ..self }
    }

    /// Does the work of each message, as [`Receive::run`] does, and gives what each of them comes
    /// to, in their order.
    ///
    /// A message that fails, or whose work panics, changes nothing for the others.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Receive::run`], for each message: those that were not begun are as if they had not
    /// been delivered.
    pub async fn run_each<E, W, F>(self, work: W) -> Vec<Result<Delivery<E>, InboxError<E>>>
    where
        W: Fn(M, Permit) -> F,
        F: Future<Output = Result<(), E>>,
    {
        self.each(Wants::NoTransaction, |message, permit, _| work(message, permit)).await
    }

    /// The same as [`Receive::run_in_transaction`] does it: each message in a transaction of its
    /// own.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Receive::run_in_transaction`], for each message.
    pub async fn run_each_in_transaction<E, W, F>(
        self,
        work: W,
    ) -> Vec<Result<Delivery<E>, InboxError<E>>>
    where
        W: Fn(M, Permit, TransactionHandle) -> F,
        F: Future<Output = Result<(), E>>,
    {
        self.each(Wants::Transaction, |message, permit, transaction| {
            work(message, permit, there(transaction))
        })
        .await
    }

    async fn each<E, W, F>(self, wants: Wants, work: W) -> Vec<Result<Delivery<E>, InboxError<E>>>
    where
        W: Fn(M, Permit, Option<TransactionHandle>) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let mut each = Vec::with_capacity(self.messages.len());
        for (envelope, message) in self.messages {
            each.push(deliver(self.inbox, wants, envelope, message, &work));
        }
        stream::iter(each).buffered(self.at_once.get()).collect().await
    }
}

async fn deliver<M, E, W, F>(
    inbox: &Inbox,
    wants: Wants,
    envelope: Envelope,
    message: M,
    work: &W,
) -> Result<Delivery<E>, InboxError<E>>
where
    W: Fn(M, Permit, Option<TransactionHandle>) -> F,
    F: Future<Output = Result<(), E>>,
{
    let receive = Receive { inbox, envelope: &envelope };
    if receive.needs_transaction() != (wants == Wants::Transaction) {
        return Err(InboxError::WrongGuarantee);
    }
    let work = |permit, transaction| work(message, permit, transaction);
    receive.delivered(Panics::AreTold, work).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    Transaction,
    NoTransaction,
}
