//! The cache for threads without a runtime.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::engine::Cache;
use super::error::CacheError;
use super::keys::KeyPage;
use super::lifetime::Lifetime;
use super::read::Refreshed;
use super::remove::{Removed, TryRemoved};
use super::replace::TryReplaced;
use super::typed::{TypedCache, bytes_of, from_bytes};
use super::write::TryAdded;

/// A [`Cache`] whose calls block their thread: for threads that work synchronously beside a runtime,
/// such as those of `spawn_blocking`.
///
/// The work itself is done on the runtime that [`Cache::blocking`] was called on, so that runtime
/// must be running: one for a single thread is while that thread is inside its `block_on`. A program
/// without any keeps one for its stores:
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use semel::Cache;
///
/// let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
/// let cache = runtime.block_on(async {
///     semel::open("memory:").await.map(|store| Cache::new(store).blocking())
/// })?;
/// cache.set("k", "v", Duration::from_secs(60))?;
/// assert_eq!(cache.get("k")?.as_deref(), Some(&b"v"[..]));
/// # Ok(())
/// # }
/// ```
///
/// # Panics
///
/// Every call panics inside asynchronous work, before it has asked the store for anything: it would
/// stop the thread that others' work runs on. Go through `spawn_blocking` there, or use the
/// asynchronous [`Cache`].
#[derive(Debug, Clone)]
pub struct BlockingCache {
    cache: Cache,
    runtime: Handle,
}

impl Cache {
    /// The same cache, for threads without a runtime.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime: that is where the work will be done.
    #[must_use]
    pub fn blocking(&self) -> BlockingCache {
        BlockingCache { cache: self.clone(), runtime: Handle::current() }
    }
}

impl BlockingCache {
    /// As [`Cache::get`].
    ///
    /// # Errors
    ///
    /// As [`Cache::get`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn get(&self, key: &str) -> Result<Option<Bytes>, CacheError> {
        let key = key.to_owned();
        self.wait(move |cache| async move { cache.get(&key).await })
    }

    /// As [`Cache::set`].
    ///
    /// # Errors
    ///
    /// As [`Cache::set`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn set(
        &self,
        key: &str,
        value: impl Into<Bytes>,
        lifetime: impl Into<Lifetime>,
    ) -> Result<(), CacheError> {
        let (key, value, lifetime) = (key.to_owned(), value.into(), lifetime.into());
        self.wait(move |cache| async move { cache.set(&key, value, lifetime).await })
    }

    /// As [`Cache::try_add`].
    ///
    /// # Errors
    ///
    /// As [`Cache::try_add`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn try_add(
        &self,
        key: &str,
        value: impl Into<Bytes>,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryAdded<Bytes>, CacheError> {
        let (key, value, lifetime) = (key.to_owned(), value.into(), lifetime.into());
        self.wait(move |cache| async move { cache.try_add(&key, value, lifetime).await })
    }

    /// As [`Cache::try_replace`].
    ///
    /// # Errors
    ///
    /// As [`Cache::try_replace`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn try_replace(
        &self,
        key: &str,
        value: impl Into<Bytes>,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryReplaced, CacheError> {
        let (key, value, lifetime) = (key.to_owned(), value.into(), lifetime.into());
        self.wait(move |cache| async move { cache.try_replace(&key, value, lifetime).await })
    }

    /// As [`Cache::remove`].
    ///
    /// # Errors
    ///
    /// As [`Cache::remove`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn remove(&self, key: &str) -> Result<Removed, CacheError> {
        let key = key.to_owned();
        self.wait(move |cache| async move { cache.remove(&key).await })
    }

    /// As [`Cache::try_remove`].
    ///
    /// # Errors
    ///
    /// As [`Cache::try_remove`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn try_remove(&self, key: &str, expected: &[u8]) -> Result<TryRemoved, CacheError> {
        let (key, expected) = (key.to_owned(), expected.to_owned());
        self.wait(move |cache| async move { cache.try_remove(&key, &expected).await })
    }

    /// As [`Cache::refresh`].
    ///
    /// # Errors
    ///
    /// As [`Cache::refresh`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn refresh(&self, key: &str) -> Result<Refreshed, CacheError> {
        let key = key.to_owned();
        self.wait(move |cache| async move { cache.refresh(&key).await })
    }

    /// As [`Cache::keys`].
    ///
    /// # Errors
    ///
    /// As [`Cache::keys`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn keys(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<KeyPage, CacheError> {
        let (prefix, after) = (prefix.to_owned(), after.map(str::to_owned));
        self.wait(move |cache| async move { cache.keys(&prefix, after.as_deref(), limit).await })
    }

    /// The same cache, for values of one type in the place of bytes.
    #[must_use]
    pub fn typed<T>(&self) -> BlockingTypedCache<T> {
        BlockingTypedCache { cache: self.clone(), of: PhantomData }
    }

    fn wait<T, F>(&self, work: impl FnOnce(Cache) -> F) -> Result<T, CacheError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, CacheError>> + Send + 'static,
    {
        refuse_asynchronous_work();
        let work = work(self.cache.clone());
        let (answer, reply) = oneshot::channel();
        self.runtime.spawn(async move {
            // Who asked waits for it, unless its thread was unwound.
            let _ = answer.send(work.await);
        });
        reply.blocking_recv().unwrap_or(Err(CacheError::Shutdown))
    }
}

/// Panics where tokio lets nobody block, before anything is done.
fn refuse_asynchronous_work() {
    let (_, reply) = oneshot::channel::<()>();
    let _ = reply.blocking_recv();
}

// ===== BlockingTypedCache =====

/// A [`BlockingCache`] of values of one type; see [`TypedCache`].
///
/// # Panics
///
/// As [`BlockingCache`].
pub struct BlockingTypedCache<T> {
    cache: BlockingCache,
    of: PhantomData<fn() -> T>,
}

impl<T> BlockingTypedCache<T> {
    /// The cache beneath, which has the bytes.
    #[must_use]
    pub const fn cache(&self) -> &BlockingCache {
        &self.cache
    }
}

impl<T: Serialize + DeserializeOwned> BlockingTypedCache<T> {
    /// As [`TypedCache::get`].
    ///
    /// # Errors
    ///
    /// As [`TypedCache::get`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn get(&self, key: &str) -> Result<Option<T>, CacheError> {
        self.cache.get(key)?.as_ref().map(from_bytes).transpose()
    }

    /// As [`TypedCache::set`].
    ///
    /// # Errors
    ///
    /// As [`TypedCache::set`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn set(
        &self,
        key: &str,
        value: &T,
        lifetime: impl Into<Lifetime>,
    ) -> Result<(), CacheError> {
        self.cache.set(key, bytes_of(value)?, lifetime)
    }

    /// As [`TypedCache::try_add`].
    ///
    /// # Errors
    ///
    /// As [`TypedCache::try_add`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn try_add(
        &self,
        key: &str,
        value: &T,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryAdded<T>, CacheError> {
        match self.cache.try_add(key, bytes_of(value)?, lifetime)? {
            TryAdded::Added => Ok(TryAdded::Added),
            TryAdded::Present(bytes) => from_bytes(&bytes).map(TryAdded::Present),
        }
    }

    /// As [`TypedCache::try_replace`].
    ///
    /// # Errors
    ///
    /// As [`TypedCache::try_replace`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn try_replace(
        &self,
        key: &str,
        value: &T,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryReplaced, CacheError> {
        self.cache.try_replace(key, bytes_of(value)?, lifetime)
    }

    /// As [`TypedCache::try_remove`]. The value goes to another thread, so it is taken whole.
    ///
    /// # Errors
    ///
    /// As [`TypedCache::try_remove`], and [`CacheError::Shutdown`].
    ///
    /// # Panics
    ///
    /// Inside asynchronous work.
    pub fn try_remove(&self, key: &str, expected: T) -> Result<TryRemoved, CacheError>
    where
        T: PartialEq + Send + Sync + 'static,
    {
        let key = key.to_owned();
        self.cache.wait(move |cache| async move {
            let typed: TypedCache<T> = cache.typed();
            typed.try_remove(&key, &expected).await
        })
    }
}

impl<T> Clone for BlockingTypedCache<T> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone(), of: PhantomData }
    }
}

impl<T> fmt::Debug for BlockingTypedCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingTypedCache").field("cache", &self.cache).finish_non_exhaustive()
    }
}
