//! What can be set about a store, and the check of it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use semel_core::{Namespace, Preflight, StoreResult};

use crate::ack::Ack;
use crate::preflight::Check;
use crate::store::RedisStore;
use crate::trouble::Failure;
use crate::url::{Target, parse, span};

/// A store that is about to be opened. Made by [`RedisStore::builder`].
///
/// Everything but the files of a TLS connection can also be set in the URL, by the names of the
/// methods: `redis://host?ack=all&response_timeout=1s`. A method that is called wins.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is opened"]
pub struct RedisBuilder(Result<Settings, Failure>);

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) target: Target,
    pub(crate) namespace: Namespace,
    pub(crate) connect_timeout: Duration,
    pub(crate) response_timeout: Duration,
    pub(crate) patience: Duration,
    pub(crate) max_value_bytes: usize,
    pub(crate) ack: Ack,
    pub(crate) ack_timeout: Duration,
    pub(crate) ack_connections: usize,
    pub(crate) pause_after_loss: Duration,
    pub(crate) accepted: BTreeSet<Check>,
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

impl Settings {
    fn from_url(url: &str) -> Result<Self, String> {
        let target = parse(url)?;
        let namespace = Namespace::new("semel").map_err(|error| error.to_string())?;
        let mut settings = Self {
            target,
            namespace,
            connect_timeout: Duration::from_secs(1),
            response_timeout: Duration::from_millis(500),
            patience: Duration::from_secs(1),
            max_value_bytes: 4 << 20,
            ack: Ack::None,
            ack_timeout: Duration::from_millis(300),
            ack_connections: 8,
            pause_after_loss: Duration::ZERO,
            accepted: BTreeSet::new(),
        };
        for (name, value) in std::mem::take(&mut settings.target.settings) {
            settings.set(&name, &value)?;
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "namespace" => {
                self.namespace =
                    Namespace::new(value).map_err(|error| format!("`namespace`: {error}"))?;
            }
            "connect_timeout" => self.connect_timeout = duration(name, value)?,
            "response_timeout" => self.response_timeout = duration(name, value)?,
            "patience" => self.patience = duration(name, value)?,
            "ack_timeout" => self.ack_timeout = duration(name, value)?,
            "pause_after_loss" => self.pause_after_loss = duration(name, value)?,
            "max_value_bytes" => self.max_value_bytes = number(name, value)?,
            "ack_connections" => self.ack_connections = number(name, value)?,
            "ack" => {
                self.ack = Ack::parse(value).ok_or("`ack` takes none, all, or 1 to 255")?;
            }
            "accept" => {
                for check in value.split(',') {
                    self.accepted.insert(Check::parse(check)?);
                }
            }
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let millis = |from, to| Duration::from_millis(from)..=Duration::from_millis(to);
        within("connect_timeout", &self.connect_timeout, millis(10, 60_000))?;
        within("response_timeout", &self.response_timeout, millis(10, 60_000))?;
        within("patience", &self.patience, millis(0, 60_000))?;
        within("ack_timeout", &self.ack_timeout, millis(1, 60_000))?;
        within("pause_after_loss", &self.pause_after_loss, millis(0, 86_400_000))?;
        within("max_value_bytes", &self.max_value_bytes, 1..=(512 << 20) - 64)?;
        within("ack_connections", &self.ack_connections, 1..=256)
    }
}

fn unknown(name: &str) -> String {
    let shown: String = name.chars().take(40).collect();
    format!(
        "the URL of a Redis store takes no `{shown}`; it takes namespace, connect_timeout, \
         response_timeout, patience, max_value_bytes, ack, ack_timeout, ack_connections, \
         pause_after_loss, accept, tls, tls_ca, tls_cert, tls_key, sentinel_username and \
         sentinel_password"
    )
}

fn duration(name: &str, value: &str) -> Result<Duration, String> {
    span(value).ok_or_else(|| format!("`{name}` takes a number with ms, s or m, as in 500ms"))
}

fn number(name: &str, value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("`{name}` takes a number"))
}

fn within<T: PartialOrd + std::fmt::Debug>(
    name: &str,
    got: &T,
    takes: RangeInclusive<T>,
) -> Result<(), String> {
    if takes.contains(got) {
        return Ok(());
    }
    let (from, to) = takes.into_inner();
    Err(format!("{name} is {got:?}; it takes {from:?} to {to:?}"))
}
