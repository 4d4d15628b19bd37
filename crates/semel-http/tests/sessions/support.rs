//! What the tests share.

use std::sync::Arc;

use axum::Router;
use semel::core::{Fault, ManualClock, StoreTime};
use semel::timer::unix_time;
use semel::{MemoryStore, Store};
use semel_http::CacheSessionStore;
use semel_testkit::RedisServer;
use tower_sessions::cookie::time::{Duration, OffsetDateTime};
use tower_sessions::session::{Id, Record};

/// Sessions in a store that fails on demand, and the store's clock.
pub(crate) struct Bench {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Fault<MemoryStore>,
    pub(crate) sessions: CacheSessionStore,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let micros = u64::try_from(unix_time().as_micros()).unwrap();
        let clock = Arc::new(ManualClock::at(StoreTime::from_micros(micros)));
        let store = Fault::new(MemoryStore::new(Arc::clone(&clock)));
        let sessions = CacheSessionStore::new(Arc::new(store.clone()));
        Self { clock, store, sessions }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(std::time::Duration::from_secs(seconds));
    }
}

pub(crate) fn in_seconds(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::now_utc() + Duration::seconds(seconds)
}

/// A session that ends in so many seconds.
pub(crate) fn record(seconds: i64) -> Record {
    let data = [("name".to_owned(), "alice".into()), ("count".to_owned(), 7.into())];
    Record { id: Id::default(), data: data.into(), expiry_date: in_seconds(seconds) }
}

/// Serves an app on a port of its own, and says where.
pub(crate) async fn served(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

/// A browser: it keeps cookies.
pub(crate) fn browser() -> reqwest::Client {
    reqwest::Client::builder().cookie_store(true).build().unwrap()
}

/// A store that several instances open, and what keeps it alive.
pub(crate) struct Place {
    url: String,
    _keeps: Keeps,
}

/// Dropped with the test.
#[expect(dead_code, reason = "it is there to be dropped")]
enum Keeps {
    Folder(tempfile::TempDir),
    Redis(RedisServer),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
        Self { url, _keeps: Keeps::Folder(folder) }
    }

    pub(crate) async fn redis() -> Self {
        let server = RedisServer::start().await.unwrap();
        // The machine may be busy with other tests.
        let url = format!("{}?response_timeout=4s", server.url());
        Self { url, _keeps: Keeps::Redis(server) }
    }

    /// A store with connections of its own.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        semel::open(&self.url).await.unwrap()
    }
}
