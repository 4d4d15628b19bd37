//! What these tests are written with.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use rusqlite::Connection;
use semel_core::{
    Expect, Key, Next, Refusal, Stamp, Store, StoreError, StoreErrorKind, Swap, Touch, Ttl, Version,
};
use semel_sqlite::SqliteStore;
use tempfile::TempDir;

/// In every key and value here. No error may hold it.
pub(crate) const SECRET: &str = "s3cr3t";

pub(crate) const UNUSABLE: StoreErrorKind = StoreErrorKind::Refused(Refusal::Unusable);
pub(crate) const FULL: StoreErrorKind = StoreErrorKind::Refused(Refusal::Full);

/// A directory with a path for a store in it.
pub(crate) struct Place {
    pub(crate) directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("store.db")
    }

    pub(crate) async fn open(&self) -> SqliteStore {
        open(&self.path()).await
    }

    /// A connection of our own to the file, as any program could have.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// A connection that keeps everybody else from writing until it is dropped.
    pub(crate) fn lock(&self) -> Connection {
        let db = self.connect();
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        db
    }
}

/// A store that waits long for others. On a machine that is busy compiling a single fsync has been
/// seen to take more than the five seconds of the default, and all who want the lock wait for it.
pub(crate) async fn open(path: &Path) -> SqliteStore {
    SqliteStore::builder(path).busy_timeout(PATIENCE).open().await.unwrap()
}

/// Longer than anything takes that does not hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn key(name: impl std::fmt::Display) -> Key {
    Key::new(format!("{SECRET}:{name}")).unwrap()
}

pub(crate) fn secs(seconds: u64) -> Ttl {
    Ttl::new(Duration::from_secs(seconds)).unwrap()
}

/// A put that does not end while a test runs.
pub(crate) fn put(value: impl AsRef<[u8]>) -> Next {
    let mut bytes = SECRET.as_bytes().to_vec();
    bytes.extend_from_slice(value.as_ref());
    Next::Put { value: bytes.into(), lease: secs(3_600), keep: secs(7_200) }
}

pub(crate) async fn claim(
    store: &SqliteStore,
    name: impl std::fmt::Display,
) -> Result<Swap, StoreError> {
    store.swap(&key(name), Expect::Absent, put("held")).await
}

pub(crate) fn won(swap: Result<Swap, StoreError>) -> Stamp {
    match swap.unwrap() {
        Swap::Won(stamp) => stamp,
        Swap::Lost(there) => panic!("it must win; it lost to {there:?}"),
    }
}

pub(crate) async fn version(store: &SqliteStore, name: impl std::fmt::Display) -> Option<Version> {
    let seen = store.read(&key(name), Touch::No).await.unwrap();
    seen.entry.map(|entry| entry.version)
}

/// Asserts the kind of an error, and that neither it nor what caused it gives anything away.
#[track_caller]
pub(crate) fn assert_error(error: &StoreError, kind: StoreErrorKind) {
    assert_eq!(error.kind(), kind, "{error}");
    let mut told = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        told.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    assert!(!told.contains(SECRET), "{told}");
}

// ===== waiting =====

/// Polls a future once: a call is queued by its first poll.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    poll_fn(|cx| match Pin::new(&mut *future).poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Waits in earnest: for other processes and for nothing to happen.
#[expect(clippy::disallowed_methods, reason = "other processes know no paused time")]
pub(crate) async fn real_wait(time: Duration) {
    tokio::time::sleep(time).await;
}

/// The future's output, or a panic when it takes this long.
#[expect(clippy::disallowed_methods, reason = "other processes know no paused time")]
pub(crate) async fn within<F: Future>(limit: Duration, what: &str, future: F) -> F::Output {
    match tokio::time::timeout(limit, future).await {
        Ok(output) => output,
        Err(_) => panic!("{what} took longer than {limit:?}"),
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    within(PATIENCE, what, async {
        while !holds().await {
            real_wait(Duration::from_millis(2)).await;
        }
    })
    .await;
}
