//! A store's settings, from its URL, and the check of them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use semel_core::Namespace;

use crate::ack::Ack;
use crate::preflight::Check;
use crate::url::{Target, parse, span};

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

impl Settings {
    pub(crate) fn from_url(url: &str) -> Result<Self, String> {
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

    pub(crate) fn check(&self) -> Result<(), String> {
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
