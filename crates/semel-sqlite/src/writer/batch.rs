//! Group commit: a batch of calls, one transaction, one answer for all or each its own.

use std::thread;
use std::time::Duration;

use rusqlite::Error;

use super::call::WriteCall;
use super::tx::{NotBegun, SWEPT_WHEN_FULL, Tx};
use super::watch::Watch;
use crate::clock::Stopwatch;
use crate::failure::{Cause, Failure};
use crate::queue::Taken;
use crate::shared::{Shared, count};

/// The most calls in one transaction: enough to share a commit among many, few enough that none
/// waits long for the others' work.
const BATCH: usize = 256;
/// A commit that takes this long is worth a word.
const SLOW: Duration = Duration::from_secs(1);

/// Runs batches until the queue is closed and empty.
pub(super) struct Writer<'c> {
    tx: Tx<'c>,
    watch: Watch,
    shared: &'c Shared,
}

/// Why a batch was not committed.
enum Trouble {
    /// No transaction began.
    NotBegun(Failure),
    /// Nothing of it was applied.
    Undone(Error),
    /// It may have been.
    Unknown(Failure),
}

impl<'c> Writer<'c> {
    pub(super) fn new(mut tx: Tx<'c>, shared: &'c Shared) -> Self {
        let watch = Watch::new(&mut tx.sql);
        Self { tx, watch, shared }
    }

    pub(super) fn run(&mut self) {
        let mut batch = Vec::with_capacity(BATCH);
        // Timed only while there is something to watch for: an idle store sleeps.
        let hints = &self.shared.hints;
        let patience = || (hints.waiting() > 0).then_some(self.shared.poll_interval);
        loop {
            let taken = self.shared.writes.take(BATCH, &mut batch, patience);
            if taken == Taken::Closed {
                break;
            }
            self.settle(&mut batch);
            batch.clear();
            self.watch.look(&mut self.tx.sql, hints);
        }
        self.part();
    }

    /// Runs a batch and answers all its calls.
    fn settle(&mut self, batch: &mut Vec<WriteCall>) {
        batch.retain(|call| !call.is_cancelled());
        if batch.is_empty() {
            return;
        }
        match self.attempt(batch) {
            Ok(()) => self.answer(batch.drain(..)),
            // One of them can't be done. Alone, each gets what is its own.
            Err(Trouble::Undone(_)) => {
                count(&self.shared.counted.undone);
                for call in batch.drain(..) {
                    self.settle_alone(call);
                }
            }
            Err(Trouble::NotBegun(failure) | Trouble::Unknown(failure)) => {
                fail(batch.drain(..), &failure);
            }
        }
    }

    /// Runs one call in a transaction of its own; on a full disk once more after tidying up.
    fn settle_alone(&mut self, call: WriteCall) {
        let mut one = [call];
        let mut outcome = self.attempt(&mut one);
        if let Err(Trouble::Undone(error)) = &outcome
            && Cause::of(error) == Cause::Full
            && one[0].grows()
            && self.make_room()
        {
            outcome = self.attempt(&mut one);
        }
        match outcome {
            Ok(()) => self.answer(one),
            Err(Trouble::Undone(error)) => fail(one, &Failure::unchanged(error)),
            Err(Trouble::NotBegun(failure) | Trouble::Unknown(failure)) => fail(one, &failure),
        }
    }

    /// Begins, runs all, commits. Nobody is answered here.
    fn attempt(&mut self, calls: &mut [WriteCall]) -> Result<(), Trouble> {
        // Goes before the calls do: whoever is told of a panic finds the store ended.
        let _end = EndOnPanic(self.shared);
        self.begin()?;
        // Some may have gone away while we waited for the lock.
        for call in calls.iter_mut().filter(|call| !call.is_cancelled()) {
            let ran = call.run(&mut self.tx);
            ran.map_err(|error| self.undo(error))?;
        }
        self.finish()
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        if let Some(why) = self.shared.unusable() {
            return Err(Trouble::NotBegun(why.clone()));
        }
        self.tx.begin().map_err(|not_begun| match not_begun {
            NotBegun::Now(failure) => Trouble::NotBegun(failure),
            NotBegun::Ever(failure) => {
                self.shared.poison(failure.clone());
                Trouble::NotBegun(failure)
            }
        })
    }

    fn finish(&mut self) -> Result<(), Trouble> {
        let changed = self.tx.seal().map_err(|error| self.undo(error))?;
        let taking = Stopwatch::start();
        match self.tx.commit() {
            Ok(()) => {
                if changed {
                    count(&self.shared.counted.commits);
                    warn_if_slow(taking.elapsed());
                }
                Ok(())
            }
            // Neither of the two comes after the commit record was written in full: a log that
            // ends before it is read as if the transaction had not been.
            Err(error) if matches!(Cause::of(&error), Cause::Busy | Cause::Full) => {
                Err(self.undo(error))
            }
            Err(error) => Err(self.commit_failed(error)),
        }
    }

    /// After a failed write or fsync what the system shows of the file is no longer what is on the
    /// disk, and a later fsync would succeed and mean nothing. So this is the end: whoever opens
    /// the file anew reads it from the disk.
    fn commit_failed(&mut self, error: Error) -> Trouble {
        let failure = Failure::commit(error);
        // It has failed either way, and nothing is done on this connection any more.
        let _ = self.tx.undo();
        let why = "a commit failed; the file must be opened anew, which reads it from the disk";
        self.shared.poison(Failure::unusable(why));
        Trouble::Unknown(failure)
    }

    fn undo(&mut self, error: Error) -> Trouble {
        if self.tx.undo().is_err() {
            let why = "a transaction could not be undone; the file must be opened anew";
            self.shared.poison(Failure::unusable(why));
        }
        Trouble::Undone(error)
    }

    /// Clears away some of what has ended; says whether anything went.
    fn make_room(&mut self) -> bool {
        let mut swept = 0;
        let mut outcome = self.begin();
        if outcome.is_ok() {
            let now = self.tx.now();
            outcome = match self.tx.sql.sweep(now, SWEPT_WHEN_FULL) {
                Ok(went) => {
                    swept = went;
                    self.tx.mark_changed();
                    self.finish()
                }
                Err(error) => Err(self.undo(error)),
            };
        }
        outcome.is_ok() && swept > 0
    }

    fn answer(&self, calls: impl IntoIterator<Item = WriteCall>) {
        for call in calls {
            count(&self.shared.counted.calls);
            call.answer(&self.shared.hints);
        }
    }

    /// Leaves the time in the file, so that the clock goes on from here after a boot.
    fn part(&mut self) {
        if self.begin().is_ok() {
            self.tx.now();
            self.tx.mark_changed();
            if let Err(Trouble::Undone(error)) = self.finish() {
                tracing::warn!(error = %error, "the time could not be left in the file");
            }
        }
    }
}

/// Ends the store when the thread panics while this is there.
struct EndOnPanic<'a>(&'a Shared);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.poison(Failure::unusable("the writer failed; see the log"));
        }
    }
}

/// All calls wait for the disk, and so do other processes: whoever runs this should know.
fn warn_if_slow(commit: Duration) {
    if commit >= SLOW {
        let millis = commit.as_millis();
        tracing::warn!(millis, "a commit was slow to reach the disk; all calls waited for it");
    }
}

fn fail(calls: impl IntoIterator<Item = WriteCall>, failure: &Failure) {
    for call in calls {
        call.fail(failure);
    }
}
