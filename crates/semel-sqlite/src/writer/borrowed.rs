//! The writer's steps on a connection of somebody else's, in a transaction with their rows.

use std::path::PathBuf;

use rusqlite::Connection;
use semel_core::{Expect, Key, Next, StoreError, StoreErrorKind, StoreResult, Swap};

use super::call::Operation;
use super::halt::Halt;
use super::swap::SwapEntry;
use super::tx::{NotBegun, Tx};
use crate::clock::Timepiece;
use crate::failure::{Cause, Failure};
use crate::open::Bounds;

/// An open transaction that holds the file's write lock. Dropped, it is rolled back.
pub(crate) struct Borrowed<'c> {
    db: &'c Connection,
    tx: Tx<'c>,
}

/// Whether a transaction began.
pub(crate) enum Opened<'c> {
    /// It did.
    Yes(Box<Borrowed<'c>>),
    /// Another one held the lock for longer than the connection waits.
    Busy,
}

impl<'c> Borrowed<'c> {
    pub(crate) fn begin(
        db: &'c Connection,
        time: &'c Timepiece,
        path: PathBuf,
    ) -> StoreResult<Opened<'c>> {
        // What their rows take is theirs to bound.
        let bounds = Bounds { pages: None, page_bytes: 1, min_free_bytes: 0, path };
        let tx = Tx::new(db, bounds, time).map_err(told)?;
        let mut borrowed = Box::new(Self { db, tx });
        match borrowed.tx.begin() {
            Ok(()) => Ok(Opened::Yes(borrowed)),
            Err(NotBegun::Now(failure)) if failure.is_busy() => Ok(Opened::Busy),
            Err(NotBegun::Now(failure) | NotBegun::Ever(failure)) => Err(failure.error()),
        }
    }

    /// A swap in the transaction. After an error that is not a refusal it can only be undone.
    pub(crate) fn swap(&mut self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        if self.db.is_autocommit() {
            return Err(StoreError::not_applied("the transaction has ended already"));
        }
        let swap = SwapEntry { key: key.clone(), expect, next };
        swap.run(&mut self.tx).map_err(|halt| match halt {
            Halt::Refused(error) => error,
            Halt::Failed(error) => told(error),
        })
    }

    /// Commits. An error of kind `Unknown` leaves open whether it is on the disk.
    pub(crate) fn commit(mut self) -> StoreResult<()> {
        if self.db.is_autocommit() {
            return Err(StoreError::not_applied("the transaction has ended already"));
        }
        self.tx.seal().map_err(told)?;
        self.tx.commit().map_err(|error| match Cause::of(&error) {
            // It was not even tried.
            Cause::Busy => told(error),
            _ => Failure::commit(error).error(),
        })
    }

    pub(crate) fn rollback(mut self) -> StoreResult<()> {
        self.tx.undo().map_err(told)
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.tx.undo() {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }
}

fn told(error: rusqlite::Error) -> StoreError {
    let error = Failure::unchanged(error).error();
    debug_assert!(error.kind() != StoreErrorKind::Unknown, "nothing was committed");
    error
}
