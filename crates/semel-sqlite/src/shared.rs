//! What the handles and the threads of one store have in common.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use semel_core::{Hints, StoreError, StoreResult};

use crate::clock::Timepiece;
use crate::failure::Failure;
use crate::queue::{Queue, Rejected};
use crate::read_call::ReadCall;
use crate::settings::Settings;
use crate::writer::WriteCall;

/// Calls that may wait for one kind of thread. With values at their largest the queue of a disk
/// that stands still holds gigabytes; with the usual ones, tens of megabytes.
const QUEUED: usize = 16_384;

pub(crate) struct Shared {
    pub(crate) max_value_bytes: usize,
    pub(crate) poll_interval: Duration,
    pub(crate) time: Timepiece,
    pub(crate) hints: Hints,
    pub(crate) writes: Queue<WriteCall>,
    pub(crate) reads: Queue<ReadCall>,
    pub(crate) counted: Counted,
    /// Why the store can't be used any more.
    unusable: OnceLock<Failure>,
}

impl Shared {
    pub(crate) fn new(settings: &Settings, time: Timepiece) -> Self {
        Self {
            max_value_bytes: settings.max_value_bytes,
            poll_interval: settings.poll_interval,
            time,
            hints: Hints::new(),
            writes: Queue::new(QUEUED),
            reads: Queue::new(QUEUED),
            counted: Counted::default(),
            unusable: OnceLock::new(),
        }
    }

    /// Refuses all calls from now on; the first reason stays.
    pub(crate) fn poison(&self, why: Failure) {
        let error = why.error();
        if self.unusable.set(why).is_ok() {
            tracing::error!(error = %error, "the store can't be used until it is opened anew");
            // Who waits for a change reads again, and is told.
            self.hints.notify_all();
        }
    }

    /// Why the store can't be used, if it can't.
    pub(crate) fn unusable(&self) -> Option<&Failure> {
        self.unusable.get()
    }

    pub(crate) fn check_usable(&self) -> StoreResult<()> {
        self.unusable().map_or(Ok(()), |why| Err(why.error()))
    }

    /// Lets no more calls in; those that wait are still run.
    pub(crate) fn close(&self) {
        self.reads.close();
        self.writes.close();
    }

    pub(crate) fn turned_away(&self, rejected: Rejected) -> StoreError {
        match (self.unusable(), rejected) {
            (Some(why), _) => why.error(),
            (None, Rejected::Closed) => Failure::unusable("the store is closed").error(),
            (None, Rejected::Full) => {
                StoreError::not_applied(format!("{QUEUED} calls wait for the disk already"))
            }
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("unusable", &self.unusable).finish_non_exhaustive()
    }
}

thread_local! {
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread belongs to a store.
pub(crate) fn mark_own_thread() {
    IS_OWN.set(true);
}

/// Whether this thread belongs to a store.
pub(crate) fn is_own_thread() -> bool {
    IS_OWN.get()
}

// ===== counts =====

/// What a store's writer has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriterStats {
    /// Calls answered: swaps, reads that touch, and batches of sweeps.
    pub calls: u64,
    /// Transactions that changed something and were forced to the disk. Far fewer than `calls`
    /// when many call at once.
    pub commits: u64,
    /// Batches that were undone because of one call, and run again call by call.
    pub undone: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) calls: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) undone: AtomicU64,
}

impl Counted {
    pub(crate) fn stats(&self) -> WriterStats {
        WriterStats {
            calls: self.calls.load(Ordering::Relaxed),
            commits: self.commits.load(Ordering::Relaxed),
            undone: self.undone.load(Ordering::Relaxed),
        }
    }
}

/// One more. Counts are for people: their order among each other does not matter.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
