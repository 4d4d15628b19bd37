//! How a server is set up.

use crate::certificates::Certificates;

/// When a server forces its append-only file to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendFsync {
    /// Before it answers.
    Always,
    /// Once a second.
    EverySecond,
    /// When the system sees fit: written before it answers, so that the data outlast a `kill -9`
    /// of the server, and no answer waits for a busy disk.
    BySystem,
}

/// A server that is about to be started. Made by [`RedisServer::builder`](crate::RedisServer::builder). Without further words
/// it keeps nothing on the disk.
#[derive(Debug, Clone, Default)]
#[must_use = "a builder does nothing until it is started"]
pub struct RedisServerBuilder {
    pub(super) settings: Vec<(String, String)>,
    pub(super) password: Option<String>,
    pub(super) sentinel: bool,
    pub(super) tls: bool,
}

impl RedisServerBuilder {
    /// A line of the configuration file.
    pub fn set(mut self, name: &str, value: impl ToString) -> Self {
        self.settings.push((name.to_owned(), value.to_string()));
        self
    }

    /// Keeps an append-only file, so that a restart finds the data.
    pub fn append_only(self, fsync: AppendFsync) -> Self {
        let fsync = match fsync {
            AppendFsync::Always => "always",
            AppendFsync::EverySecond => "everysec",
            AppendFsync::BySystem => "no",
        };
        self.set("appendonly", "yes").set("appendfsync", fsync)
    }

    /// Asks clients for a password.
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self.set("requirepass", password).set("masterauth", password)
    }

    /// Listens with TLS too, on a port of its own; asks clients for a certificate if told so. The
    /// harness itself goes on without.
    pub fn tls(mut self, certificates: &Certificates, asks_clients: bool) -> Self {
        self.tls = true;
        let (certificate, key) = certificates.of("server");
        self.set("tls-cert-file", certificate.display())
            .set("tls-key-file", key.display())
            .set("tls-ca-cert-file", certificates.authority().display())
            .set("tls-auth-clients", if asks_clients { "yes" } else { "no" })
    }

    pub(super) fn sentinel(mut self) -> Self {
        self.sentinel = true;
        self
    }

    pub(super) fn file(&self, port: u16, tls_port: Option<u16>, directory: &str) -> String {
        let mut lines = format!(
            "port {port}\nbind 127.0.0.1\ndir {directory}\ndaemonize no\nlogfile \"\"\n\
             loglevel notice\n"
        );
        if !self.sentinel {
            // A replica gets its data at once, not after the usual five seconds.
            lines.push_str("save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\n");
        }
        if let Some(port) = tls_port {
            lines.push_str(&format!("tls-port {port}\n"));
        }
        for (name, value) in &self.settings {
            lines.push_str(&format!("{name} {value}\n"));
        }
        lines
    }
}
