//! A cache over one store, and its setting up.

use std::sync::Arc;
use std::time::Duration;

use semel_core::{Key, Store, Ttl};

use super::error::{CacheError, CacheSettingError};
use crate::drive::Address;

/// How long a value is cached that nobody said a time for: five minutes.
const DEFAULT_TTL: Ttl =
    Ttl::from_micros(300_000_000).expect("five minutes are less than ten years");

/// Cached bytes in a store; [`Cache::typed`] is for values. See [the manual](crate::cache).
///
/// A clone is a second handle to the same cache. Caches of one store and namespace, in this process
/// or another, are one cache.
///
/// Its calls need a tokio runtime with time; [`Cache::blocking`] is for threads without one.
#[derive(Debug, Clone)]
pub struct Cache(pub(super) Arc<Engine>);

#[derive(Debug)]
pub(super) struct Engine {
    pub(super) store: Arc<dyn Store>,
    /// What its keys begin with.
    pub(super) prefix: String,
    pub(super) default_ttl: Ttl,
}

/// Sets up a cache.
#[derive(Debug, Clone)]
#[must_use = "call build()"]
pub struct CacheBuilder {
    store: Arc<dyn Store>,
    namespace: Option<String>,
    default_time_to_live: Duration,
}

impl Cache {
    /// A cache over this store, in no namespace of its own.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::over(store, None, DEFAULT_TTL)
    }

    /// A cache to be set up.
    pub fn builder(store: Arc<dyn Store>) -> CacheBuilder {
        CacheBuilder { store, namespace: None, default_time_to_live: DEFAULT_TTL.as_duration() }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// How long a value is cached that nobody said a time for.
    #[must_use]
    pub fn default_time_to_live(&self) -> Duration {
        self.0.default_ttl.as_duration()
    }

    fn over(store: Arc<dyn Store>, namespace: Option<&str>, default_ttl: Ttl) -> Self {
        Self(Arc::new(Engine { store, prefix: Key::cache_prefix(namespace), default_ttl }))
    }
}

impl Engine {
    /// Where a value is.
    pub(super) fn at(&self, key: &str) -> Result<Address, CacheError> {
        self.key(key).map(Address::of)
    }

    pub(super) fn key(&self, key: &str) -> Result<Key, CacheError> {
        if key.is_empty() {
            return Err(CacheError::Key(semel_core::KeyError::Empty));
        }
        Key::new(format!("{}{key}", self.prefix)).map_err(CacheError::Key)
    }
}

impl CacheBuilder {
    /// A name that keeps its keys apart from those of other caches in the same store. Default: none,
    /// which is a namespace too, and nobody else's.
    pub fn namespace(self, name: impl Into<String>) -> Self {
        Self { namespace: Some(name.into()), ..self }
    }

    /// How long a value is cached that nobody said a time for: `cache.default_time_to_live_seconds`.
    /// Default: 300 seconds. It must be positive.
    pub fn default_time_to_live(self, default_time_to_live: Duration) -> Self {
        Self { default_time_to_live, ..self }
    }

    /// The cache.
    ///
    /// # Errors
    ///
    /// [`CacheSettingError`], which names the setting, what it got and what it takes.
    pub fn build(self) -> Result<Cache, CacheSettingError> {
        let got = self.default_time_to_live;
        let default_ttl = Ttl::positive(got)
            .map_err(|fault| CacheSettingError::DefaultTimeToLive { got, fault })?;
        if let Some(namespace) = self.namespace.as_deref() {
            let fault = match namespace {
                "" => Some(semel_core::KeyError::Empty),
                // The shortest key of all must fit.
                namespace => Key::cache(Some(namespace), "k").err(),
            };
            if let Some(fault) = fault {
                return Err(CacheSettingError::Namespace { fault });
            }
        }
        Ok(Cache::over(self.store, self.namespace.as_deref(), default_ttl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::SystemClock;
    use semel_core::{KeyError, MemoryStore, TtlError};

    fn builder() -> CacheBuilder {
        Cache::builder(Arc::new(MemoryStore::new(SystemClock::new())))
    }

    #[test]
    fn keys_of_caches_meet_no_others() {
        let plain = builder().build().unwrap();
        let named = |name: &str| builder().namespace(name).build().unwrap();
        let key = |cache: &Cache, key| cache.0.key(key).unwrap().as_str().to_owned();
        assert_eq!(key(&plain, "a:b"), "cache:-:a:b");
        assert_eq!(key(&named("a"), "b"), "cache:a:b");
        assert_eq!(key(&named("-"), "b"), "cache:%2D:b");
        assert_eq!(key(&named("a:b"), "c"), "cache:a%3Ab:c");
    }

    #[test]
    fn the_limit_of_keys_counts_what_stands_before_them() {
        let cache = builder().namespace("n").build().unwrap();
        assert!(cache.0.key(&"k".repeat(504)).is_ok());
        let error = cache.0.key(&"k".repeat(505)).unwrap_err();
        assert!(matches!(error, CacheError::Key(KeyError::TooLong { chars: 513 })), "{error}");
        for (key, reason) in [("", "empty"), ("a b", "white-space"), ("\u{1}", "control-character")]
        {
            let Err(CacheError::Key(fault)) = cache.0.key(key) else { panic!("{key:?} passed") };
            assert_eq!(fault.reason(), reason);
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_by_name() {
        let zero = builder().default_time_to_live(Duration::ZERO).build().unwrap_err();
        assert!(matches!(zero, CacheSettingError::DefaultTimeToLive { fault: TtlError::Zero, .. }));
        assert!(zero.to_string().starts_with("cache.default_time_to_live_seconds = 0: "), "{zero}");
        assert!(builder().default_time_to_live(Duration::MAX).build().is_err());
        for name in ["".to_owned(), "n".repeat(505)] {
            let error = builder().namespace(name).build().unwrap_err();
            assert!(matches!(error, CacheSettingError::Namespace { .. }), "{error}");
        }
        assert_eq!(Cache::new(builder().store).default_time_to_live(), Duration::from_secs(300));
    }
}
