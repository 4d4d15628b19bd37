//! How a call's end was recorded.

use semel_core::protocol::Successor;

/// How recording an outcome ended.
#[derive(Debug)]
#[must_use = "a superseded answer must not be given out as the call's answer"]
pub enum Finished {
    /// It is recorded: every repeat gets it.
    Recorded,
    /// The store could not keep all of it; that the call ended is recorded.
    RecordedInPart,
    /// The store did not take it yet. It is tried again in the background, under the lease; if
    /// that fails for good the call is in doubt.
    Pending,
    /// The claim was lost: nothing was changed, and this stands in its place.
    Superseded(Successor),
    /// It can't be recorded: the call will be in doubt once its lease ends.
    Unrecorded,
    /// Only where the guarantee is [`Transactional`](crate::Guarantee::Transactional): the call's
    /// rows and record were not committed, or that is not known. Its answer must not be given out.
    NotCommitted(NotCommitted),
}

/// Why a call's transaction is not known to be committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotCommitted {
    /// It was rolled back: neither rows nor record are there, and a retry runs.
    RolledBack,
    /// The same, because the work's handle to it was still held somewhere after the work had
    /// ended, by a task that was spawned or a body that is still being made: what it had written
    /// may not have been all.
    HandleKept,
    /// That could not be found out. Rows and record are there together or not at all; a retry
    /// finds the answer, or runs.
    Unknown,
}
