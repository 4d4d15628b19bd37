//! A call on its way through the writer: what it does, and whom to tell.

use rusqlite::Error;
use semel_core::{Hints, Key, StoreError, StoreResult};

use super::halt::Halt;
use super::tx::Tx;
use crate::failure::Failure;
use crate::reply::Reply;

/// What a call does inside a transaction.
///
/// It may be run more than once, each time on a file as if it had not run before.
pub(crate) trait Operation: Send + 'static {
    type Output: Send + 'static;

    /// Whether it asks for more room than it has.
    fn grows(&self) -> bool;

    fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, Halt>;

    /// The key that those who wait for a change are woken for, once it is committed.
    fn changed(&self, output: &Self::Output) -> Option<&Key>;
}

/// A call of any kind, as the queue holds it.
pub(crate) struct WriteCall(Box<dyn Call>);

impl WriteCall {
    pub(crate) fn new<O: Operation>(operation: O, reply: Reply<O::Output>) -> Self {
        Self(Box::new(Pending { operation, reply, outcome: None }))
    }

    /// Nobody waits for it any more.
    pub(super) fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Whether it asks for more room than it has.
    pub(super) fn grows(&self) -> bool {
        self.0.grows()
    }

    /// Runs it in an open transaction and keeps what came of it. On an error the transaction must
    /// be undone.
    pub(super) fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        self.0.run(tx)
    }

    /// Tells its caller what came of it, and those who wait for its key. Call it when that is
    /// committed, and only then.
    pub(super) fn answer(self, hints: &Hints) {
        self.0.answer(hints);
    }

    /// Tells its caller that it failed.
    pub(super) fn fail(self, failure: &Failure) {
        let error = if self.grows() {
            failure.error()
        } else {
            failure.of_call_that_does_not_grow().error()
        };
        self.0.fail(error);
    }
}

trait Call: Send {
    fn is_cancelled(&self) -> bool;
    fn grows(&self) -> bool;
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Error>;
    fn answer(self: Box<Self>, hints: &Hints);
    fn fail(self: Box<Self>, error: StoreError);
}

struct Pending<O: Operation> {
    operation: O,
    reply: Reply<O::Output>,
    outcome: Option<StoreResult<O::Output>>,
}

impl<O: Operation> Call for Pending<O> {
    fn is_cancelled(&self) -> bool {
        self.reply.is_closed()
    }

    fn grows(&self) -> bool {
        self.operation.grows()
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        self.outcome = Some(match self.operation.run(tx) {
            Ok(output) => Ok(output),
            Err(Halt::Refused(error)) => Err(error),
            Err(Halt::Failed(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, hints: &Hints) {
        // Dropped without an answer only when it never ran, which its caller is told as unknown.
        let Some(outcome) = self.outcome else { return };
        let changed = outcome.as_ref().ok().and_then(|output| self.operation.changed(output));
        if let Some(key) = changed {
            hints.notify(key);
        }
        // A caller that went away does not need to know.
        let _ = self.reply.send(outcome);
    }

    fn fail(self: Box<Self>, error: StoreError) {
        let _ = self.reply.send(Err(error));
    }
}
