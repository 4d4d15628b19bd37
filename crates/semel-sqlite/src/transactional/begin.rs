//! Beginning a call inside a transaction.

use rusqlite::Connection;
use semel_core::StoreResult;
use semel_core::cocommit::{Began, Call};

use super::calls::Transactional;
use super::owned::OwnedWork;
use super::work::Work;
use crate::writer::Opened;

impl Transactional {
    /// Begins a call in a transaction that it opens (`BEGIN IMMEDIATE`). Where the call does not
    /// begin, the transaction is rolled back.
    ///
    /// While another transaction writes it waits as long as the connection's busy handler does,
    /// and is [`Began::Uncommitted`] after that.
    ///
    /// # Errors
    ///
    /// `Refused(Unusable)`: the connection has another file open, has a transaction open, or does
    /// not force its commits to the disk (`PRAGMA synchronous` below `FULL`). `Damaged` for a
    /// record that can't be read; else as for the store.
    pub fn begin<'c>(&'c self, db: &'c Connection, call: &Call) -> StoreResult<Began<Work<'c>>> {
        let mut open = match self.open(db)? {
            Opened::Yes(open) => open,
            Opened::Busy => return Ok(Began::Uncommitted),
        };
        match self.claim(&mut open, call)? {
            Ok(claimed) => Ok(Began::Fresh(Work::new(self, db, open, call, claimed))),
            Err(settled) => {
                open.rollback()?;
                Ok(settled.without_work())
            }
        }
    }

    /// Begins a call in a transaction on a connection and a thread of its own: for async code, such
    /// as doors whose handlers outlive every borrow. The rest is as for [`Transactional::begin`].
    ///
    /// Of all calls that begin in this way, through this value and its clones, one has its
    /// transaction open at a time; the others wait without a thread, as long as they are polled.
    ///
    /// # Errors
    ///
    /// As [`Transactional::begin`], and `NotApplied` when there can be no thread.
    ///
    /// # Cancel safety
    ///
    /// Dropped at an await, the transaction is rolled back.
    pub async fn begin_owned(&self, call: &Call) -> StoreResult<Began<OwnedWork>> {
        OwnedWork::begin(self, call).await
    }
}
