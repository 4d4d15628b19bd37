//! One broker.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::programs::Programs;
use crate::account::Account;
use crate::daemon::Daemon;
use crate::error::{TestkitError, TestkitResult};
use crate::port::Port;
use crate::scratch::{self, Medium};
use crate::time::eventually;

/// Longer than a broker takes to start, to recover or to stop on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The node talks to its own tools on its port and this, which [`Port`] keeps free too.
const DISTRIBUTION: u16 = 10_000;

/// How every AMQP 0-9-1 connection begins.
const GREETING: &[u8; 8] = b"AMQP\x00\x00\x09\x01";

/// A RabbitMQ broker on a loopback port, with its data in a temporary directory. Dropped, it is
/// killed and removed.
///
/// It takes some seconds to start: tests of one process share one, each with queues of its own.
#[derive(Debug)]
pub struct RabbitServer {
    // In this order: the processes go before their directory does, and the ports are given back
    // last.
    node: Option<Daemon>,
    _epmd: Daemon,
    directory: TempDir,
    port: Port,
    names: Port,
    programs: Programs,
    account: Account,
}

impl RabbitServer {
    /// Starts one, and comes back when it takes connections.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Missing`] where RabbitMQ is not installed; else what went wrong.
    pub async fn launch() -> TestkitResult<Self> {
        let (programs, account) = (Programs::find()?, Account::find()?);
        let directory = scratch::directory("semel-rabbitmq-", Medium::Memory)
            .map_err(TestkitError::system("a directory for a broker"))?;
        account.give(directory.path())?;
        let (port, names) = (Port::free()?, Port::free()?);
        write(directory.path(), &port, &account)?;
        // One of its own, for there would be one for all of the machine, and it would stay.
        let number = names.number().to_string();
        let arguments = ["-address", "127.0.0.1", "-port", &number];
        let (program, arguments) = account.command(&programs.epmd, arguments);
        let epmd = Daemon::start(&program, arguments, &directory.path().join("epmd.log"))?;
        let mut server =
            Self { node: None, _epmd: epmd, directory, port, names, programs, account };
        server.start().await?;
        Ok(server)
    }

    // ===== where it is =====

    /// Its URL, for the user and the virtual host that it comes with.
    #[must_use]
    pub fn url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.port.number())
    }

    /// Its port on 127.0.0.1. It stays the same through restarts.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port.number()
    }

    /// The process id of the broker; none when it is down.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.node.as_ref().map(Daemon::pid)
    }

    /// The directory that all of it is in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    // ===== what happens to it =====

    /// Starts it, after [`RabbitServer::stop`] or [`RabbitServer::kill`], on the data that is
    /// there; comes back when it takes connections.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Server`] when it does not come up.
    pub async fn start(&mut self) -> TestkitResult<()> {
        let (program, arguments) =
            self.account.command(&self.programs.server, std::iter::empty::<&str>());
        let arguments = self
            .environment()
            .into_iter()
            .map(Into::into)
            .chain([program.into_os_string()])
            .chain(arguments);
        let mut node =
            Daemon::start_in(self.directory.path(), Path::new("/usr/bin/env"), arguments)?;
        eventually(PATIENCE, "a broker that takes connections", || {
            let up = !node.is_running() || self.greets();
            async move { up.then_some(()) }
        })
        .await
        .map_err(|_| node.failed("did not start in time"))?;
        if !node.is_running() {
            return Err(node.failed("did not start"));
        }
        self.node = Some(node);
        Ok(())
    }

    /// Stops it as an operator would.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`] when it goes on.
    pub async fn stop(&mut self) -> TestkitResult<()> {
        match self.node.take() {
            Some(mut node) => node.terminate(PATIENCE).await,
            None => Ok(()),
        }
    }

    /// Ends it as `kill -9` does, and comes back when it is gone.
    pub fn kill(&mut self) {
        self.node = None;
    }

    // ===== starting =====

    /// What the scripts read instead of the machine's own settings.
    fn environment(&self) -> Vec<String> {
        let at = self.directory.path().display();
        let (port, names) = (self.port.number(), self.names.number());
        vec![
            format!("HOME={at}"),
            "LC_ALL=C.UTF-8".to_owned(),
            format!("ERL_EPMD_PORT={names}"),
            "RABBITMQ_NODENAME=semel@localhost".to_owned(),
            format!("RABBITMQ_DIST_PORT={}", port + DISTRIBUTION),
            format!("RABBITMQ_MNESIA_BASE={at}/data"),
            format!("RABBITMQ_LOG_BASE={at}/logs"),
            "RABBITMQ_LOGS=-".to_owned(),
            format!("RABBITMQ_PID_FILE={at}/pid"),
            format!("RABBITMQ_CONFIG_FILE={at}/rabbitmq.conf"),
            format!("RABBITMQ_CONF_ENV_FILE={at}/no-such-file"),
            format!("RABBITMQ_ENABLED_PLUGINS_FILE={at}/enabled_plugins"),
            // The script becomes the broker: the process is one and the same.
            "RABBITMQ_ALLOW_INPUT=1".to_owned(),
            "RABBITMQ_SERVER_START_ARGS=-noinput -start_epmd false \
             -kernel inet_dist_use_interface {127,0,0,1}"
                .to_owned(),
            // It shares the machine with the tests.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none"
                .to_owned(),
        ]
    }

    /// Whether it answers as a broker does: with its half of the handshake.
    fn greets(&self) -> bool {
        let greet = || {
            let mut stream = TcpStream::connect(self.port.address())?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            stream.write_all(GREETING)?;
            let mut first = [0; 1];
            stream.read_exact(&mut first)?;
            std::io::Result::Ok(first[0])
        };
        // The type of a method's frame.
        greet().is_ok_and(|first| first == 1)
    }
}

fn write(directory: &Path, port: &Port, account: &Account) -> TestkitResult<()> {
    let mut settings = String::new();
    for (name, value) in [
        ("listeners.tcp.1", port.address().to_string()),
        ("loopback_users", "none".to_owned()),
        ("log.console", "true".to_owned()),
        ("log.file", "false".to_owned()),
        ("vm_memory_high_watermark.absolute", "512MB".to_owned()),
        ("disk_free_limit.absolute", "10MB".to_owned()),
    ] {
        // Writing into a String can't fail.
        let _ = writeln!(settings, "{name} = {value}");
    }
    account.write(&directory.join("rabbitmq.conf"), settings)?;
    account.write(&directory.join("enabled_plugins"), "[].\n")
}
