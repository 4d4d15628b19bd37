//! Sessions of `tower-sessions` in a cache.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use semel::cache::{Cache, CacheError, Lifetime, TryAdded, TryReplaced};
use semel::core::Ttl;
use semel::{PartDigest, Store, timer};
use tower_sessions_core::session::{Id, Record};
use tower_sessions_core::session_store::{Error, ExpiredDeletion, Result, SessionStore};

/// The namespace of sessions that have none of their own.
const NAMESPACE: &str = "sessions";
/// How often another id is tried. They have 128 random bits: once is more than ever.
const IDS: usize = 8;
/// How many expired entries are removed at a time.
const BATCH: usize = 500;

/// Sessions of [`tower-sessions`](https://docs.rs/tower-sessions) in a semel store: the one that
/// locks and idempotent calls are in, if you like.
///
/// ```
/// use semel_http::CacheSessionStore;
/// use tower_sessions::SessionManagerLayer;
///
/// # async fn show() -> Result<(), semel::OpenError> {
/// let store = semel::open("sqlite:app.db").await?;
/// let sessions = SessionManagerLayer::new(CacheSessionStore::new(store));
/// # let _ = sessions;
/// # Ok(())
/// # }
/// ```
///
/// * A session is kept under a digest of its id (BLAKE3), and the id is not in its record either:
///   who can list or read the store can't take over a session. What is *in* a session stands there
///   in the clear, unless the store is under [`Seal`](semel::core::Seal).
/// * A session ends at its `expiry_date`, by the store's clock from when it was saved, and after ten
///   years at most.
/// * Saving a session that is no longer there saves nothing: a request that began before a logout
///   does not bring the session back when it ends after it, and nobody gets a session under an id
///   that they chose. See [`CacheSessionStore::as_front`] for the exception.
/// * Whatever can't be known is an error, never "no session".
#[derive(Debug, Clone)]
pub struct CacheSessionStore {
    cache: Cache,
    saves: Saves,
}

/// What saving a session does that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Saves {
    Nothing,
    Anyway,
}

impl CacheSessionStore {
    /// Sessions in this store, in a namespace `sessions`.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let cache = Cache::builder(store).namespace(NAMESPACE).build();
        Self::over(cache.expect("the namespace of sessions is one"))
    }

    /// Sessions in this cache, which should have a namespace that it shares with nothing else.
    #[must_use]
    pub const fn over(cache: Cache) -> Self {
        Self { cache, saves: Saves::Nothing }
    }

    /// As the quick store in front of a slow one, in a `CachingSessionStore`: that one saves sessions
    /// here that it has loaded from the other, so saving makes them as well. A logout must then be
    /// final in the slow store.
    #[must_use]
    pub fn as_front(self) -> Self {
        Self { saves: Saves::Anyway, ..self }
    }

    /// Writes the record in the place of the one there.
    async fn written(&self, record: &Record, until: Lifetime) -> Result<()> {
        let (key, bytes) = (key(&record.id), bytes_of(record)?);
        if self.saves == Saves::Anyway {
            return self.cache.set(&key, bytes, until).await.map_err(told);
        }
        match self.cache.try_replace(&key, bytes, until).await.map_err(told)? {
            TryReplaced::Replaced => Ok(()),
            TryReplaced::Absent => {
                metrics::counter!("semel_http_sessions_gone_total").increment(1);
                tracing::info!("a session was not saved: it had ended or was deleted meanwhile");
                Ok(())
            }
        }
    }
}

#[async_trait]
impl SessionStore for CacheSessionStore {
    /// Under an id that is free; another one if need be.
    async fn create(&self, record: &mut Record) -> Result<()> {
        let Some(until) = lifetime(record) else { return Ok(()) };
        for _ in 0..IDS {
            let added = self.cache.try_add(&key(&record.id), bytes_of(record)?, until).await;
            match added.map_err(told)? {
                TryAdded::Added => return Ok(()),
                TryAdded::Present(_) => record.id = Id::default(),
            }
        }
        Err(Error::Backend("no session id was free".to_owned()))
    }

    async fn save(&self, record: &Record) -> Result<()> {
        match lifetime(record) {
            Some(until) => self.written(record, until).await,
            // It has ended: as if it had been deleted.
            None => self.delete(&record.id).await,
        }
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let Some(bytes) = self.cache.get(&key(id)).await.map_err(told)? else { return Ok(None) };
        let decoded = serde_json::from_slice(&bytes);
        let record: Record = decoded.map_err(|_| {
            Error::Decode("the session is not in a form that this version reads".to_owned())
        })?;
        Ok(Some(Record { id: *id, ..record }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.cache.remove(&key(id)).await.map_err(told)?;
        Ok(())
    }
}

#[async_trait]
impl ExpiredDeletion for CacheSessionStore {
    /// Removes what has expired, sessions and all else. A store from [`semel::open`] does so by
    /// itself.
    async fn delete_expired(&self) -> Result<()> {
        loop {
            let swept = self.cache.store().sweep(BATCH).await;
            if swept.map_err(|error| Error::Backend(error.to_string()))? < BATCH {
                return Ok(());
            }
        }
    }
}

/// What a session is kept under: no way leads from it to the id.
fn key(id: &Id) -> String {
    let digest = PartDigest::of(&id.0.to_le_bytes());
    format!("{:032x}", u128::from_be_bytes(*digest.as_bytes()))
}

/// The record, without its id.
fn bytes_of(record: &Record) -> Result<Vec<u8>> {
    let nameless = Record { id: Id(0), ..record.clone() };
    serde_json::to_vec(&nameless).map_err(|error| Error::Encode(error.to_string()))
}

/// Until the session ends; none if it has ended.
fn lifetime(record: &Record) -> Option<Lifetime> {
    let end = u128::try_from(record.expiry_date.unix_timestamp_nanos() / 1_000).ok()?;
    let end = Duration::from_micros(u64::try_from(end).unwrap_or(u64::MAX));
    let left = end.checked_sub(timer::unix_time()).filter(|left| !left.is_zero())?;
    Some(Lifetime::of(left.min(Ttl::MAX.as_duration())))
}

/// What went wrong, and why: neither holds a key or a value.
fn told(error: CacheError) -> Error {
    let why = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    let message = format!("{error}{why}");
    match error {
        CacheError::Damaged(_) => Error::Decode(message),
        CacheError::Encode(_) => Error::Encode(message),
        _ => Error::Backend(message),
    }
}
