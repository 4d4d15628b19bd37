//! Looking at locks, for operators.

use std::pin::pin;
use std::sync::Arc;

use semel_core::protocol::lock::{LockSeen, LockStatus};
use semel_core::{Key, Snapshot, StoreError};

use super::drive::look;
use super::error::LockError;
use super::locks::Locks;
use crate::drive::{Address, in_time};

/// A lock, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedLock {
    /// The resource.
    pub resource: Arc<str>,
    /// What is known of it; none if its entry can't be read.
    pub status: Option<LockStatus>,
}

/// A page of a listing of locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockPage {
    /// The locks, in the order of their names' bytes.
    pub locks: Vec<ListedLock>,
    /// Where to go on: what to give as `after`; none at the end. A page may be short, even empty,
    /// and yet not the last.
    pub next: Option<Arc<str>>,
}

const PREFIX: &str = "lock:";

impl Locks {
    /// Who holds a lock and who waits for it; none for a lock that is free and that nobody waits
    /// for. It changes nothing; one round trip.
    ///
    /// # Errors
    ///
    /// [`LockError::Resource`], or the store's.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind.
    pub async fn inspect(&self, resource: &str) -> Result<Option<LockStatus>, LockError> {
        let at = Address::of(Key::lock(resource).map_err(LockError::Resource)?);
        let looked = in_time(pin!(look(&*self.0.store, &at))).await;
        let (seen, _) = looked.map_err(LockError::of)?;
        Ok(LockStatus::of(&seen))
    }

    /// The locks whose names begin with `prefix`, which may be empty: those that somebody holds or
    /// waits for. A page at a time, of at most `limit` entries, which begins after the name
    /// `after`. For people, not for a hot path.
    ///
    /// # Errors
    ///
    /// [`LockError::Resource`] for an `after` that is no name, or the store's.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind.
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<LockPage, LockError> {
        let after = after.map(Key::lock).transpose().map_err(LockError::Resource)?;
        let prefix = format!("{PREFIX}{prefix}");
        let page = self.0.store.scan(&prefix, after.as_ref(), limit);
        let page = in_time(pin!(page)).await.map_err(LockError::of)?;
        let locks = page.entries.into_iter().filter_map(|(key, entry)| {
            let snapshot = Snapshot { now: page.now, entry: Some(entry) };
            let status = match LockSeen::of(&key.digest(), &snapshot) {
                Ok(seen) => Some(LockStatus::of(&seen)?),
                Err(damaged) => {
                    let error = StoreError::damaged("a listed lock").caused_by(damaged);
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(lock = %key.digest(), error, "an entry can't be read");
                    None
                }
            };
            Some(ListedLock { resource: resource(&key), status })
        });
        Ok(LockPage { locks: locks.collect(), next: page.next.as_ref().map(resource) })
    }
}

fn resource(key: &Key) -> Arc<str> {
    key.as_str().strip_prefix(PREFIX).unwrap_or(key.as_str()).into()
}
