//! What can be set about a store before it is opened.

use std::time::Duration;

use semel_core::{Namespace, Preflight, StoreResult};

use crate::ack::Ack;
use crate::preflight::Check;
use crate::settings::Settings;
use crate::store::RedisStore;
use crate::trouble::Failure;

/// A store that is about to be opened. Made by [`RedisStore::builder`].
///
/// Everything but the files of a TLS connection can also be set in the URL, by the names of the
/// methods: `redis://host?ack=all&response_timeout=1s`. A method that is called wins.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is opened"]
pub struct RedisBuilder(Result<Settings, Failure>);

impl RedisStore {
    /// Opens the store on the servers that a URL names, with its settings.
    ///
    /// | URL | servers |
    /// | --- | --- |
    /// | `redis://[USER][:PASSWORD]@HOST[:6379][/DATABASE]` | one |
    /// | `rediss://…` | one, with TLS |
    /// | `redis-sentinel://HOST[:26379],…/SERVICE[/DATABASE]` | the primary that Sentinels name |
    /// | `redis-cluster://HOST[:6379],…` | a Cluster, of which some nodes are named |
    ///
    /// Settings follow a `?`: see [`RedisBuilder`]. Characters that a URL gives a meaning are
    /// percent-encoded in users and passwords.
    ///
    /// # Errors
    ///
    /// As [`RedisBuilder::open`]. No error repeats the URL.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime. The store belongs to the runtime it is opened in.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes all connections.
    pub async fn open(url: &str) -> StoreResult<Self> {
        Self::builder(url).open().await
    }

    /// A store with settings of one's own.
    pub fn builder(url: &str) -> RedisBuilder {
        RedisBuilder::new(url)
    }
}

impl RedisBuilder {
    pub(crate) fn new(url: &str) -> Self {
        Self(Settings::from_url(url).map_err(Failure::unusable))
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        if let Ok(settings) = &mut self.0 {
            change(settings);
        }
        self
    }

    /// What stands before the names of everything the store keeps on the server. Default `semel`.
    /// Stores of different namespaces share a server without sharing entries.
    pub fn namespace(self, namespace: Namespace) -> Self {
        self.with(|it| it.namespace = namespace)
    }

    /// How long a connection may take to come about. Default 1 s; from 10 ms to a minute.
    pub fn connect_timeout(self, limit: Duration) -> Self {
        self.with(|it| it.connect_timeout = limit)
    }

    /// How long an answer may take. Then the outcome is unknown, and the connection is given up.
    /// Default 500 ms; from 10 ms to a minute.
    pub fn response_timeout(self, limit: Duration) -> Self {
        self.with(|it| it.response_timeout = limit)
    }

    /// How long a call goes on trying while it is certain that nothing was applied: a server that
    /// is being restarted, a fail-over, a slot that moves. An outage that has lasted longer than
    /// this fails calls at once. Default 1 s; at most a minute; zero: it does not wait.
    pub fn patience(self, limit: Duration) -> Self {
        self.with(|it| it.patience = limit)
    }

    /// The largest value. Default 4 MiB; at most 512 MiB, which is Redis's own limit.
    pub fn max_value_bytes(self, bytes: usize) -> Self {
        self.with(|it| it.max_value_bytes = bytes)
    }

    /// How many replicas must have a write before it counts. Default none.
    pub fn ack(self, ack: Ack) -> Self {
        self.with(|it| it.ack = ack)
    }

    /// How long they may take. Default 300 ms; from 1 ms to a minute. It comes on top of
    /// [`RedisBuilder::response_timeout`].
    pub fn ack_timeout(self, limit: Duration) -> Self {
        self.with(|it| it.ack_timeout = limit)
    }

    /// How many connections take writes that replicas must acknowledge: each of them waits for
    /// one write at a time. Default 8; from 1 to 256.
    pub fn ack_connections(self, count: usize) -> Self {
        self.with(|it| it.ack_connections = count)
    }

    /// How long no claim is granted after the store has noticed that the server lost its data:
    /// at least as long as the longest lease, so that nothing that still runs is run again.
    /// Default zero: claims go on; at most a day.
    pub fn pause_after_loss(self, pause: Duration) -> Self {
        self.with(|it| it.pause_after_loss = pause)
    }

    /// Uses the server even though this check of the preflight would refuse it.
    pub fn accept(self, check: Check) -> Self {
        self.with(|it| {
            it.accepted.insert(check);
        })
    }

    /// Connects, looks the servers over, and opens the store.
    ///
    /// # Errors
    ///
    /// * `Refused(Unusable)`: a URL or a setting that can't be; a server that the preflight
    ///   refuses, which [`RedisBuilder::examine`] explains.
    /// * `Refused(Credentials)`: the server does not accept the user.
    /// * `NotApplied`: no server could be reached.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime. The store belongs to the runtime it is opened in.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes all connections.
    pub async fn open(self) -> StoreResult<RedisStore> {
        RedisStore::connect(self.checked()?).await
    }

    /// Connects and looks the servers over, as [`RedisBuilder::open`] does, and reports what it
    /// finds whether the store would be opened or not.
    ///
    /// # Errors
    ///
    /// As [`RedisBuilder::open`], but for what the preflight finds.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes all connections.
    pub async fn examine(self) -> StoreResult<Preflight> {
        RedisStore::examine(self.checked()?).await
    }

    fn checked(self) -> Result<Settings, Failure> {
        let settings = self.0?;
        settings.check().map_err(Failure::unusable)?;
        Ok(settings)
    }
}
