//! What can be set about a store before it is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use semel_core::{Clock, StoreResult};

use crate::settings::Settings;
use crate::store::SqliteStore;

/// A store that is about to be opened. Made by [`SqliteStore::builder`].
///
/// `synchronous` is not among the settings: every acknowledged write has been forced to the disk.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is opened"]
pub struct SqliteBuilder(pub(crate) Settings);

impl SqliteStore {
    /// Opens the store in this file with the default settings; makes the file, readable for its
    /// owner only, if there is none.
    ///
    /// # Errors
    ///
    /// * `Refused(Unusable)`: no such directory, a directory, `:memory:`, a file of another
    ///   program (which is left as it is), a newer schema, a damaged file, a file system that can't
    ///   keep a write-ahead log, an SQLite older than 3.51.3.
    /// * `Refused(Credentials)`: the system does not permit reading and writing it.
    /// * `NotApplied`: another process kept it locked for longer than the busy timeout.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing open. The file may have been made.
    pub async fn open(path: impl AsRef<Path>) -> StoreResult<Self> {
        Self::builder(path).open().await
    }

    /// A store with settings of one's own.
    pub fn builder(path: impl AsRef<Path>) -> SqliteBuilder {
        SqliteBuilder::new(path.as_ref().to_path_buf())
    }
}

impl SqliteBuilder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(Settings::new(path))
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
