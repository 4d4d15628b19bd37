//! The one thread that writes, and group commit.
//!
//! ```text
//! calls wait in the queue -> up to 256 are taken -> BEGIN IMMEDIATE
//!   -> each call: one look-up, at most one change -> versions and clock are stamped -> COMMIT
//!   -> all are answered, and those who wait for their keys are woken
//! ```
//!
//! No time is spent waiting for more calls to come: while one commit is on its way to the disk the
//! next batch gathers by itself.
//!
//! Nobody is answered before the commit, so a panic or an error in one call never acknowledges
//! another. A call that SQLite fails undoes the whole batch, which is then run again call by call:
//! the others succeed, each with a commit of its own, and the one that failed fails alone.

mod batch;
mod borrowed;
mod call;
mod halt;
mod room;
mod sql;
mod swap;
mod sweep;
mod thread;
mod touch;
mod tx;
mod watch;

pub(crate) use borrowed::{Borrowed, Opened};
pub(crate) use call::{Operation, WriteCall};
pub(crate) use swap::SwapEntry;
pub(crate) use sweep::SweepSome;
pub(crate) use thread::spawn;
pub(crate) use touch::TouchEntry;
