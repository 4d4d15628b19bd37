//! Wake-ups across processes, by `NOTIFY`.
//!
//! A transaction that notifies commits alone in all of PostgreSQL, so changes notify only where
//! somebody waits: who does says so in the table `semel_watch`, for half a minute at a time. One
//! connection of its own does that and listens; it is made when somebody waits for the first time.
//!
//! Between the moment somebody begins to wait and the moment that is in the table, a change by
//! another handle would be missed: so once it is there, who waits is woken once, and looks again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use semel_core::{Hint, Hints, Key, StoreError, StoreResult};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::Notification;

use crate::link::{Link, Linker};
use crate::settings::{HintSource, Settings};
use crate::sql::Sql;
use crate::target::Target;
use crate::timer;

/// For how long a key is watched once it was said that it is waited for.
const WATCHED: Duration = Duration::from_secs(30);
/// How often that is said anew for those that are still waited for.
const REFRESH: Duration = Duration::from_secs(10);
/// The pause before another connection is tried, at first and at most.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A key's digest: what tables and notifications name keys by.
type Digest = [u8; 16];

/// The wake-ups of one store.
#[derive(Debug)]
pub(crate) struct Wakeups {
    hints: Hints,
    watches: Option<Arc<Watches>>,
    listener: Option<JoinHandle<()>>,
}

impl Wakeups {
    pub(crate) fn new(settings: &Settings, linker: &Arc<Linker>, sql: Sql) -> StoreResult<Self> {
        let hints = Hints::new();
        let linker = match &settings.hints {
            HintSource::Off => return Ok(Self { hints, watches: None, listener: None }),
            HintSource::Server => Arc::clone(linker),
            HintSource::Url(url) => {
                let statement = settings.statement_timeout();
                Arc::new(Linker::new(Target::parse(url)?, settings.call_timeout, statement)?)
            }
        };
        let watches = Arc::<Watches>::default();
        let listener = Listener {
            hints: hints.clone(),
            watches: Arc::clone(&watches),
            linker,
            sql,
            limit: settings.call_timeout,
        };
        let listener = Some(tokio::spawn(listener.run()));
        Ok(Self { hints, watches: Some(watches), listener })
    }

    pub(crate) fn wait(&self, key: &Key) -> Hint {
        let hint = self.hints.wait(key);
        let Some(watches) = &self.watches else { return hint };
        let place = watches.take(key);
        Hint::new(async move {
            hint.await;
            drop(place);
        })
    }

    /// After a change through this store.
    pub(crate) fn notify(&self, key: &Key) {
        self.hints.notify(key);
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            listener.abort();
        }
    }
}

// ===== who waits =====

/// The keys that are waited for in this store.
#[derive(Debug, Default)]
struct Watches {
    keys: Mutex<HashMap<Digest, Watch>>,
    /// Somebody waits for a key that is not watched.
    wanted: Notify,
}

#[derive(Debug)]
struct Watch {
    key: Key,
    waiting: usize,
    /// Until when the table says so; none when it does not.
    until: Option<Instant>,
}

impl Watches {
    fn take(self: &Arc<Self>, key: &Key) -> Place {
        let digest = *key.digest().as_bytes();
        let mut keys = self.keys.lock();
        let watch = keys.entry(digest).or_insert_with(|| Watch {
            key: key.clone(),
            waiting: 0,
            until: None,
        });
        watch.waiting += 1;
        if watch.until.is_none_or(|until| until <= timer::now()) {
            watch.until = None;
            self.wanted.notify_one();
        }
        Place { watches: Arc::clone(self), digest }
    }

    /// Those about which the table must be told, and whether they are new to it.
    fn due(&self) -> Vec<(Digest, bool)> {
        let now = timer::now();
        let mut keys = self.keys.lock();
        keys.retain(|_, watch| watch.waiting > 0 || watch.until.is_some_and(|until| until > now));
        let due = keys.iter().filter(|(_, watch)| {
            watch.waiting > 0 && watch.until.is_none_or(|until| until < now + WATCHED - REFRESH)
        });
        due.map(|(digest, watch)| (*digest, watch.until.is_none_or(|until| until <= now))).collect()
    }

    fn told(&self, digest: &Digest, until: Instant) -> Option<Key> {
        let mut keys = self.keys.lock();
        let watch = keys.get_mut(digest)?;
        watch.until = Some(until);
        Some(watch.key.clone())
    }

    /// The key behind a notification's payload, its digest in hex, if it is waited for here.
    fn key_of(&self, payload: &str) -> Option<Key> {
        let digest = u128::from_str_radix(payload, 16).ok()?.to_be_bytes();
        self.keys.lock().get(&digest).map(|watch| watch.key.clone())
    }

    /// What the table said may be lost.
    fn forget(&self) {
        self.keys.lock().values_mut().for_each(|watch| watch.until = None);
    }

    fn is_waited(&self) -> bool {
        self.keys.lock().values().any(|watch| watch.waiting > 0)
    }
}

/// One who waits; it leaves when dropped.
struct Place {
    watches: Arc<Watches>,
    digest: Digest,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut keys = self.watches.keys.lock();
        if let Some(watch) = keys.get_mut(&self.digest) {
            watch.waiting -= 1;
            // One that the table knows stays until that is over: it need not be told again.
            if watch.waiting == 0 && watch.until.is_none() {
                keys.remove(&self.digest);
            }
        }
    }
}

// ===== the listener =====

struct Listener {
    hints: Hints,
    watches: Arc<Watches>,
    linker: Arc<Linker>,
    sql: Sql,
    limit: Duration,
}

impl Listener {
    async fn run(self) {
        let mut pause = PAUSE;
        loop {
            if !self.watches.is_waited() {
                self.watches.wanted.notified().await;
            }
            let began = timer::now();
            let ended = self.listen().await;
            tracing::debug!(error = %ended, "the connection for wake-ups ended");
            // One that worked for a while is tried again at once.
            pause = if timer::now() - began > LONGEST_PAUSE { PAUSE } else { pause };
            timer::sleep(timer::jittered(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Listens until the connection ends, and says why it did.
    async fn listen(&self) -> StoreError {
        let (heard, mut hear) = mpsc::unbounded_channel();
        let link = match self.linker.listening_link(heard).await {
            Ok(link) => link,
            Err(error) => return error,
        };
        if let Err(error) = self.subscribe(&link).await {
            link.cut();
            return error;
        }
        let error = self.attend(&link, &mut hear).await;
        link.cut();
        error
    }

    async fn subscribe(&self, link: &Link) -> StoreResult<()> {
        match timer::within(self.limit, link.run("LISTEN semel_changed")).await {
            Some(Ok(())) => {}
            _ => return Err(StoreError::not_applied("LISTEN failed")),
        }
        // Whatever happened while nobody listened.
        self.watches.forget();
        self.hints.notify_all();
        Ok(())
    }

    async fn attend(
        &self,
        link: &Link,
        hear: &mut mpsc::UnboundedReceiver<Notification>,
    ) -> StoreError {
        loop {
            if let Err(error) = self.tell(link).await {
                return error;
            }
            tokio::select! {
                heard = hear.recv() => match heard {
                    Some(notification) => self.wake(&notification),
                    None => return StoreError::not_applied("the server closed it"),
                },
                () = self.watches.wanted.notified() => {}
                () = timer::sleep(REFRESH) => {}
            }
        }
    }

    fn wake(&self, notification: &Notification) {
        if let Some(key) = self.watches.key_of(notification.payload()) {
            self.hints.notify(&key);
        }
    }

    /// Brings the table up to date.
    async fn tell(&self, link: &Link) -> StoreResult<()> {
        let due = self.watches.due();
        if due.is_empty() {
            return Ok(());
        }
        let until = timer::now() + WATCHED;
        let digests = due.iter().map(|(digest, _)| *digest).collect();
        let for_us = i64::try_from(WATCHED.as_micros()).unwrap_or(i64::MAX);
        let statement = self.sql.watch(digests, for_us);
        match timer::within(self.limit, link.rows(&statement)).await {
            Some(Ok(_)) => {}
            _ => return Err(StoreError::unknown("the table of watched keys was not reached")),
        }
        for (digest, is_new) in due {
            let key = self.watches.told(&digest, until);
            if let Some(key) = key.filter(|_| is_new) {
                self.hints.notify(&key);
            }
        }
        Ok(())
    }
}
