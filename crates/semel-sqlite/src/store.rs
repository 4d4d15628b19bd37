//! The store: a handle to the threads that work on the file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use async_trait::async_trait;
use parking_lot::Mutex;
use semel_core::{
    Expect, Hint, Key, Next, Page, Refusal, Snapshot, Store, StoreError, StoreResult, Swap, Touch,
};
use tokio::sync::{oneshot, watch};

use crate::clock::Timepiece;
use crate::read_call::{Range, ReadCall};
use crate::settings::Settings;
use crate::shared::{Shared, WriterStats, is_own_thread};
use crate::writer::{self, Operation, SwapEntry, SweepSome, TouchEntry, WriteCall};

/// Entries one sweep removes in one transaction, so that it never holds others up for long.
const SWEPT_AT_ONCE: usize = 500;

/// A store in one SQLite file, shared by the processes of one machine.
///
/// A clone is a second handle to the same threads and connections. Another
/// [`SqliteStore::open`] on the same path, in this process or another, is a second store on the
/// same entries.
///
/// When the last handle is dropped, the calls that wait are run, the threads end and the file is
/// closed; the drop waits for that, which takes a commit or two and at most the busy timeout.
/// [`SqliteStore::close`] does the same without blocking a thread.
#[derive(Clone)]
pub struct SqliteStore(Arc<Handle>);

struct Handle {
    path: PathBuf,
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Ends when the writer has: it holds the other side.
    ended: watch::Receiver<()>,
}

impl SqliteStore {
    pub(crate) async fn start(settings: Settings) -> StoreResult<Self> {
        let path = settings.path.clone();
        let (opened, opening) = oneshot::channel();
        let (alive, ended) = watch::channel(());
        let writer = writer::spawn(settings, opened, alive).map_err(no_thread)?;
        let shared = opening.await.map_err(|_| {
            StoreError::refused(Refusal::Unusable, "the writer ended while it opened the file")
        })??;
        let writer = Mutex::new(Some(writer));
        Ok(Self(Arc::new(Handle { path, shared, writer, ended })))
    }

    /// Runs the calls that wait, ends the threads and closes the file, for all handles. Calls
    /// after this are refused. Returns when the file is closed; closing again does nothing.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not stop the closing.
    pub async fn close(&self) {
        self.0.shared.close();
        let mut ended = self.0.ended.clone();
        while ended.changed().await.is_ok() {}
    }

    /// What the writer has done so far: to see how well calls share commits.
    #[must_use]
    pub fn stats(&self) -> WriterStats {
        self.0.shared.counted.stats()
    }

    /// Where the file lies.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    async fn write<O: Operation>(&self, operation: O) -> StoreResult<O::Output> {
        let shared = &self.0.shared;
        shared.check_usable()?;
        let (reply, answer) = oneshot::channel();
        let call = WriteCall::new(operation, reply);
        shared.writes.push(call).map_err(|rejected| shared.turned_away(rejected))?;
        answer.await.map_err(|_| StoreError::unknown("the writer ended before it answered"))?
    }

    async fn ask<T>(
        &self,
        call: impl FnOnce(oneshot::Sender<StoreResult<T>>) -> ReadCall,
    ) -> StoreResult<T> {
        let shared = &self.0.shared;
        shared.check_usable()?;
        let (reply, answer) = oneshot::channel();
        shared.reads.push(call(reply)).map_err(|rejected| shared.turned_away(rejected))?;
        answer.await.map_err(|_| StoreError::not_applied("the reader ended before it answered"))?
    }

    pub(crate) fn time(&self) -> &Timepiece {
        &self.0.shared.time
    }

    /// Wakes who waits for a key through this store, after a commit beside it.
    pub(crate) fn changed_here(&self, key: &Key) {
        self.0.shared.hints.notify(key);
    }

    pub(crate) fn check_size(&self, next: &Next) -> StoreResult<()> {
        let limit = self.0.shared.max_value_bytes;
        match next {
            Next::Put { value, .. } if value.len() > limit => Err(StoreError::refused(
                Refusal::TooLarge,
                format!("the value has {} bytes, the limit is {limit}", value.len()),
            )),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        self.check_size(&next)?;
        self.write(SwapEntry { key: key.clone(), expect, next }).await
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        let key = key.clone();
        match touch {
            Touch::No => self.ask(|reply| ReadCall::Read { key, reply }).await,
            Touch::Lease(lease) => self.write(TouchEntry { key, lease }).await,
        }
    }

    fn changed(&self, key: &Key) -> Hint {
        let hint = self.0.shared.hints.wait(key);
        // The writer may be asleep for good: now there is something to watch for.
        self.0.shared.writes.stir();
        hint
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        let range = Range::new(prefix, after);
        self.ask(|reply| ReadCall::Scan { range, limit, reply }).await
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        let mut swept = 0;
        while swept < limit {
            let some = SWEPT_AT_ONCE.min(limit - swept);
            let went = self.write(SweepSome { limit: some }).await?;
            swept += went;
            if went < some {
                break;
            }
        }
        Ok(swept)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.0.path)
            .field("stats", &self.stats())
            .field("unusable", &self.0.shared.unusable().is_some())
            .finish()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
        let Some(writer) = self.writer.lock().take() else { return };
        // An answer can make an executor drop the task that held the last handle, right on the
        // thread that answers: that can't wait for itself, and the threads end anyway.
        if !is_own_thread() {
            // A panic there has been told to all callers.
            let _ = writer.join();
        }
    }
}

fn no_thread(error: std::io::Error) -> StoreError {
    StoreError::not_applied("the system gave no thread for the store").caused_by(error)
}
