//! What goes to the thread that has a transaction.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use rusqlite::Connection;
use semel_core::cocommit::{CommitError, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Outcome, StoreResult};
use tokio::sync::oneshot;

/// What goes to the thread. It ends when nobody is left who could order anything.
pub(super) struct Orders(pub(super) mpsc::Sender<Order>);

pub(super) enum Order {
    Run(Box<dyn FnOnce(&Connection) + Send>),
    Commit(Outcome, Option<Outcome>, oneshot::Sender<Result<Recorded, CommitError>>),
    Refuse(Outcome, oneshot::Sender<StoreResult<Completed>>),
    RollBack(oneshot::Sender<StoreResult<()>>),
}

type Panic = Box<dyn Any + Send>;

impl Orders {
    /// What came of it; none after the transaction has ended.
    pub(super) async fn run<T, F>(&self, work: F) -> Option<Result<T, Panic>>
    where
        F: FnOnce(&Connection) -> T + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let run = move |db: &Connection| {
            // Nobody may listen any more; it was to be done all the same.
            reply.send(catch_unwind(AssertUnwindSafe(|| work(db)))).ok();
        };
        self.0.send(Order::Run(Box::new(run))).ok()?;
        answer.await.ok()
    }
}
