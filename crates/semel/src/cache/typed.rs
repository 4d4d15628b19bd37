//! Values of one type in the place of bytes.

use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::engine::Cache;
use super::error::CacheError;
use super::lifetime::Lifetime;
use super::remove::TryRemoved;
use super::replace::TryReplaced;
use super::write::TryAdded;
use crate::run::to_bytes;

/// A [`Cache`] of values of one type, as serde writes them, in CBOR. What has to do with no value
/// is on [`TypedCache::cache`].
///
/// Each value that serde takes is a value: `0`, `""`, `[]` and `None` are not absent.
pub struct TypedCache<T> {
    cache: Cache,
    of: PhantomData<fn() -> T>,
}

impl Cache {
    /// The same cache, for values of one type in the place of bytes.
    #[must_use]
    pub fn typed<T>(&self) -> TypedCache<T> {
        TypedCache::over(self.clone())
    }
}

impl<T> TypedCache<T> {
    pub(super) const fn over(cache: Cache) -> Self {
        Self { cache, of: PhantomData }
    }

    /// The cache beneath, which has the bytes.
    #[must_use]
    pub const fn cache(&self) -> &Cache {
        &self.cache
    }
}

impl<T: Serialize + DeserializeOwned> TypedCache<T> {
    /// As [`Cache::get`].
    ///
    /// # Errors
    ///
    /// As [`Cache::get`], and [`CacheError::OtherType`] for a value that is none of this type.
    ///
    /// # Panics
    ///
    /// As [`Cache::get`].
    ///
    /// # Cancel safety
    ///
    /// As [`Cache::get`].
    pub async fn get(&self, key: &str) -> Result<Option<T>, CacheError> {
        self.cache.get(key).await?.as_ref().map(from_bytes).transpose()
    }

    /// As [`Cache::set`].
    ///
    /// # Errors
    ///
    /// As [`Cache::set`], and [`CacheError::Encode`] for a value that can't be written as bytes.
    ///
    /// # Panics
    ///
    /// As [`Cache::set`].
    ///
    /// # Cancel safety
    ///
    /// As [`Cache::set`].
    pub async fn set(
        &self,
        key: &str,
        value: &T,
        lifetime: impl Into<Lifetime>,
    ) -> Result<(), CacheError> {
        self.cache.set(key, bytes_of(value)?, lifetime).await
    }

    /// As [`Cache::try_add`].
    ///
    /// # Errors
    ///
    /// As [`Cache::try_add`], and as [`TypedCache::get`] and [`TypedCache::set`].
    ///
    /// # Panics
    ///
    /// As [`Cache::try_add`].
    ///
    /// # Cancel safety
    ///
    /// As [`Cache::try_add`].
    pub async fn try_add(
        &self,
        key: &str,
        value: &T,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryAdded<T>, CacheError> {
        match self.cache.try_add(key, bytes_of(value)?, lifetime).await? {
            TryAdded::Added => Ok(TryAdded::Added),
            TryAdded::Present(bytes) => from_bytes(&bytes).map(TryAdded::Present),
        }
    }

    /// As [`Cache::try_replace`].
    ///
    /// # Errors
    ///
    /// As [`Cache::try_replace`], and [`CacheError::Encode`]. What is of another type is replaced.
    ///
    /// # Panics
    ///
    /// As [`Cache::try_replace`].
    ///
    /// # Cancel safety
    ///
    /// As [`Cache::try_replace`].
    pub async fn try_replace(
        &self,
        key: &str,
        value: &T,
        lifetime: impl Into<Lifetime>,
    ) -> Result<TryReplaced, CacheError> {
        self.cache.try_replace(key, bytes_of(value)?, lifetime).await
    }

    /// As [`Cache::try_remove`], by equal values, not by equal bytes.
    ///
    /// # Errors
    ///
    /// As [`Cache::try_remove`]. What is of another type is another value.
    ///
    /// # Panics
    ///
    /// As [`Cache::try_remove`].
    ///
    /// # Cancel safety
    ///
    /// As [`Cache::try_remove`].
    pub async fn try_remove(&self, key: &str, expected: &T) -> Result<TryRemoved, CacheError>
    where
        T: PartialEq,
    {
        let engine = &self.cache.0;
        engine.remove_if(key, |bytes| decoded::<T>(bytes).is_ok_and(|it| it == *expected)).await
    }
}

pub(super) fn bytes_of(value: &impl Serialize) -> Result<Bytes, CacheError> {
    Ok(to_bytes("cached value", value)?)
}

pub(super) fn from_bytes<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, CacheError> {
    decoded(bytes).map_err(|error| CacheError::OtherType(Box::new(error)))
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, minicbor_serde::error::DecodeError> {
    minicbor_serde::from_slice(bytes)
}

impl<T> Clone for TypedCache<T> {
    fn clone(&self) -> Self {
        Self::over(self.cache.clone())
    }
}

impl<T> fmt::Debug for TypedCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedCache").field("cache", &self.cache).finish_non_exhaustive()
    }
}
