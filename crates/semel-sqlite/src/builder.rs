//! What can be set about a store, and the check of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use semel_core::{Clock, Refusal, StoreError, StoreResult};

use crate::store::SqliteStore;

/// A store that is about to be opened. Made by [`SqliteStore::builder`].
///
/// `synchronous` is not among the settings: every acknowledged write has been forced to the disk.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is opened"]
pub struct SqliteBuilder(pub(crate) Settings);

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) busy_timeout: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) max_value_bytes: usize,
    pub(crate) max_file_bytes: Option<u64>,
    pub(crate) min_free_bytes: u64,
    pub(crate) readers: usize,
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

impl SqliteBuilder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(Settings {
            path,
            busy_timeout: Duration::from_secs(5),
            poll_interval: Duration::from_millis(25),
            max_value_bytes: 4 << 20,
            max_file_bytes: None,
            min_free_bytes: 32 << 20,
            readers: 2,
            clock: None,
        })
    }

    /// How long a call waits for another process that is writing, before it fails with
    /// `NotApplied`. Default 5 s; zero: it does not wait. At most an hour.
    pub fn busy_timeout(mut self, limit: Duration) -> Self {
        self.0.busy_timeout = limit;
        self
    }

    /// How often the file is looked at for changes that other processes made, while somebody in
    /// this process waits for one. Default 25 ms; from 1 ms to a minute.
    pub fn poll_interval(mut self, pace: Duration) -> Self {
        self.0.poll_interval = pace;
        self
    }

    /// The largest value. Default 4 MiB; at most 512 MiB.
    pub fn max_value_bytes(mut self, bytes: usize) -> Self {
        self.0.max_value_bytes = bytes;
        self
    }

    /// How large the file may grow. Default: as large as the disk allows. At least 64 KiB.
    ///
    /// An eighth of it is kept back for entries that are there already, so that a call that was
    /// let in can also be recorded. A full store refuses; it never evicts an entry that has not
    /// expired. The write-ahead log beside the file is not counted.
    ///
    /// It binds the writes of this store. Processes that share a file should set the same.
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.0.max_file_bytes = Some(bytes);
        self
    }

    /// How much room on the disk is left to entries that are there already: with less than this
    /// free, new ones are refused as `Full`. So a call that was let in can still be recorded when
    /// something else fills the disk. Default 32 MiB; zero: new entries may use up the disk.
    ///
    /// Only on Unix; elsewhere it has no effect.
    pub fn min_free_bytes(mut self, bytes: u64) -> Self {
        self.0.min_free_bytes = bytes;
        self
    }

    /// How many threads read, each with a connection of its own. Default 2; from 1 to 64.
    pub fn readers(mut self, threads: usize) -> Self {
        self.0.readers = threads;
        self
    }

    /// A clock instead of the machine's: for tests. All stores on a file must be given the same.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.0.clock = Some(clock);
        self
    }

    /// Opens the store; makes the file if there is none.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::open`], and `Refused(Unusable)` for a setting out of its range.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing open. The file may have been made.
    pub async fn open(self) -> StoreResult<SqliteStore> {
        self.0.check()?;
        SqliteStore::start(self.0).await
    }
}

impl Settings {
    fn check(&self) -> StoreResult<()> {
        let millis = |from, to| Duration::from_millis(from)..=Duration::from_millis(to);
        within("busy_timeout", &self.busy_timeout, millis(0, 3_600_000))?;
        within("poll_interval", &self.poll_interval, millis(1, 60_000))?;
        within("max_value_bytes", &self.max_value_bytes, 1..=512 << 20)?;
        within("max_file_bytes", &self.max_file_bytes.unwrap_or(1 << 16), 1 << 16..=1 << 47)?;
        within("readers", &self.readers, 1..=64)
    }
}

fn within<T: PartialOrd + std::fmt::Debug>(
    name: &str,
    got: &T,
    takes: std::ops::RangeInclusive<T>,
) -> StoreResult<()> {
    if takes.contains(got) {
        return Ok(());
    }
    let (from, to) = takes.into_inner();
    let message = format!("{name} is {got:?}; it takes {from:?} to {to:?}");
    Err(StoreError::refused(Refusal::Unusable, message))
}
