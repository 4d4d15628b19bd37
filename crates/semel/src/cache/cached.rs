//! The cache behind the asynchronous traits of crate `cached`.

use std::fmt::{self, Display};
use std::future::Future;
use std::pin::pin;

use ::cached::{ConcurrentCacheBase, ConcurrentCachedAsync, SerializeCachedAsync};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CacheError;
use super::exchange::Former;
use super::lifetime::Lifetime;
use super::remove::Removed;
use super::typed::{TypedCache, bytes_of, from_bytes};
use super::write::Written;
use crate::drive::{Address, in_time};

/// How many keys are cleared away at a time.
const PAGE: usize = 200;

/// A [`TypedCache`] as a store of crate `cached`: for whatever is generic over
/// [`ConcurrentCachedAsync`].
///
/// A key is what it displays, and keeps to the grammar of [keys](semel_core::Key): no white space,
/// and at most 512 characters with what stands before it.
///
/// It behaves as that crate's own stores in databases do, strict ones: an entry that can't be read,
/// or is of another type, is an error for who reads it, and is replaced or removed all the same by
/// who writes or removes. What is over is absent, for `remove_entry` too. Clearing takes its
/// namespace for its own: give each cache of functions [one](super::CacheBuilder::namespace).
///
/// ```
/// use std::time::Duration;
/// use cached::ConcurrentCachedAsync;
/// use semel::cache::{Cache, CachedStore, Lifetime};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = semel::open("memory:").await?;
/// let cache = Cache::builder(store).namespace("squares").build()?;
/// let squares = CachedStore::<u64>::new(cache.typed())
///     .lifetime(Lifetime::sliding(Duration::from_secs(60)));
/// let nine = squares.async_cache_get_or_set_with(3, || async { 3 * 3 }).await?;
/// assert_eq!(nine, 9);
/// assert_eq!(squares.async_cache_get(&3).await?, Some(9));
/// # Ok(())
/// # }
/// ```
pub struct CachedStore<V> {
    cache: TypedCache<V>,
    lifetime: Lifetime,
}

impl<V> CachedStore<V> {
    /// A store over this cache, whose values live for the cache's default.
    #[must_use]
    pub fn new(cache: TypedCache<V>) -> Self {
        Self { cache, lifetime: Lifetime::default() }
    }

    /// How long values live. A sliding lifetime is what crate `cached` calls refresh on hit. One
    /// with an end at a moment refuses all values after that moment.
    #[must_use]
    pub fn lifetime(self, lifetime: Lifetime) -> Self {
        Self { lifetime, ..self }
    }

    /// The cache beneath.
    #[must_use]
    pub const fn cache(&self) -> &TypedCache<V> {
        &self.cache
    }
}

impl<V: Serialize + DeserializeOwned> CachedStore<V> {
    async fn exchange(&self, key: String, value: Option<V>) -> Result<Option<V>, CacheError> {
        let engine = &self.cache.cache().0;
        let at = engine.at(&key)?;
        let written = match value {
            Some(value) => Some(engine.written(bytes_of(&value)?, self.lifetime)?),
            None => None,
        };
        match self.exchanged(&at, written.as_ref()).await? {
            Former::Absent => Ok(None),
            Former::Value(bytes) => from_bytes(&bytes).map(Some),
            Former::Unreadable(error) => Err(CacheError::Damaged(error)),
        }
    }

    async fn exchanged(
        &self,
        at: &Address,
        written: Option<&Written>,
    ) -> Result<Former, CacheError> {
        let engine = &self.cache.cache().0;
        in_time(pin!(engine.exchanged(at, written))).await.map_err(CacheError::of_write)
    }

    async fn clear(&self) -> Result<(), CacheError> {
        let cache = self.cache.cache();
        let mut after = None;
        loop {
            let page = cache.keys("", after.as_deref(), PAGE).await?;
            for key in &page.keys {
                cache.remove(key).await?;
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }
}

impl<V> ConcurrentCacheBase for CachedStore<V> {
    type Error = CacheError;
}

impl<K, V> ConcurrentCachedAsync<K, V> for CachedStore<V>
where
    K: Display + Clone + Send + Sync,
    V: Serialize + DeserializeOwned + Send,
{
    fn async_cache_get(&self, k: &K) -> impl Future<Output = Result<Option<V>, CacheError>> + Send {
        let key = k.to_string();
        async move { self.cache.get(&key).await }
    }

    /// What was there and is of another type is not returned: it is gone.
    fn async_cache_set(
        &self,
        k: K,
        v: V,
    ) -> impl Future<Output = Result<Option<V>, CacheError>> + Send {
        let key = k.to_string();
        async move {
            match self.exchange(key, Some(v)).await {
                Err(CacheError::OtherType(_) | CacheError::Damaged(_)) => Ok(None),
                former => former,
            }
        }
    }

    fn async_cache_remove(
        &self,
        k: &K,
    ) -> impl Future<Output = Result<Option<V>, CacheError>> + Send {
        self.exchange(k.to_string(), None)
    }

    fn async_cache_remove_entry(
        &self,
        k: &K,
    ) -> impl Future<Output = Result<Option<(K, V)>, CacheError>> + Send {
        let key = k.clone();
        let removed = self.exchange(k.to_string(), None);
        async move { Ok(removed.await?.map(|value| (key, value))) }
    }

    fn async_cache_delete(&self, k: &K) -> impl Future<Output = Result<bool, CacheError>> + Send {
        let key = k.to_string();
        async move { Ok(self.cache.cache().remove(&key).await? == Removed::Removed) }
    }

    fn async_cache_contains(&self, k: &K) -> impl Future<Output = Result<bool, CacheError>> + Send {
        let key = k.to_string();
        async move { Ok(self.cache.get(&key).await?.is_some()) }
    }

    fn async_cache_clear(&self) -> impl Future<Output = Result<(), CacheError>> + Send {
        self.clear()
    }

    fn async_cache_reset(&self) -> impl Future<Output = Result<(), CacheError>> + Send {
        self.clear()
    }
}

impl<K, V> SerializeCachedAsync<K, V> for CachedStore<V>
where
    K: Display + Clone + Send + Sync,
    V: Serialize + DeserializeOwned + Send,
{
    fn async_cache_set_ref(
        &self,
        k: &K,
        v: &V,
    ) -> impl Future<Output = Result<(), CacheError>> + Send {
        let key = k.to_string();
        let bytes = bytes_of(v);
        async move { self.cache.cache().set(&key, bytes?, self.lifetime).await }
    }
}

impl<V> Clone for CachedStore<V> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone(), lifetime: self.lifetime }
    }
}

impl<V> fmt::Debug for CachedStore<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedStore")
            .field("cache", &self.cache)
            .field("lifetime", &self.lifetime)
            .finish()
    }
}
