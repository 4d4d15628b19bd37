//! One server.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use super::cluster::{Cluster, run};
use super::processes;
use super::programs::Programs;
use crate::account::Account;
use crate::certificates::Certificates;
use crate::daemon::Daemon;
use crate::error::{TestkitError, TestkitResult};
use crate::port::Port;
use crate::scratch::Medium;
use crate::time::eventually;

/// Longer than a server takes to start, to recover or to stop on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The database that servers come with.
const DATABASE: &str = "postgres";

/// A PostgreSQL server on a loopback port, with its data in a temporary directory. Dropped, it is
/// killed and removed.
///
/// Everybody from this machine is let in as the superuser `postgres`. What it acknowledges is
/// written (`fsync` is on), so that a `kill -9` proves something; where there is room it is written
/// to memory, unless [`PostgresBuilder::on_disk`] is said.
#[derive(Debug)]
pub struct PostgresServer {
    // In this order: the processes go before their directory does, and the port is given back last.
    daemon: Option<Daemon>,
    cluster: Cluster,
    port: Port,
    programs: Programs,
    account: Account,
    settings: Vec<(String, String)>,
}

/// A server about to be started. Made by [`PostgresServer::builder`].
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it is started"]
pub struct PostgresBuilder {
    settings: Vec<(String, String)>,
    standby: Standby,
    certificate: Option<(PathBuf, PathBuf)>,
    medium: Medium,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Standby {
    #[default]
    No,
    Yes,
}

impl PostgresBuilder {
    /// Sets one of PostgreSQL's settings, as in `postgresql.conf`.
    pub fn setting(mut self, name: &str, value: impl ToString) -> Self {
        self.settings.push((name.to_owned(), value.to_string()));
        self
    }

    /// Starts it as a standby that waits for a primary for ever: it takes reads only.
    pub const fn standby(mut self) -> Self {
        self.standby = Standby::Yes;
        self
    }

    /// Keeps its data on the disk: for who measures what an acknowledgement costs.
    pub const fn on_disk(mut self) -> Self {
        self.medium = Medium::Disk;
        self
    }

    /// Has it speak TLS with the server's certificate of these, and nothing else over the network.
    pub fn tls(mut self, certificates: &Certificates) -> Self {
        self.certificate = Some(certificates.of("server"));
        self
    }

    /// Starts it, and comes back when it takes connections.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Missing`] where PostgreSQL is not installed; else what went wrong.
    pub async fn start(self) -> TestkitResult<PostgresServer> {
        let (programs, account) = (Programs::find()?, Account::find()?);
        let cluster = Cluster::make(&programs, &account, self.medium)?;
        if self.standby == Standby::Yes {
            account.write(&cluster.data().join("standby.signal"), "")?;
        }
        let port = Port::free()?;
        let mut settings = self.settings;
        if let Some((certificate, key)) = &self.certificate {
            cluster.take_certificate(&account, certificate, key)?;
            settings.push(("ssl".to_owned(), "on".to_owned()));
        }
        let mut server =
            PostgresServer { daemon: None, cluster, port, programs, account, settings };
        server.start().await?;
        Ok(server)
    }
}

impl PostgresServer {
    /// A server with the usual settings.
    ///
    /// # Errors
    ///
    /// As [`PostgresBuilder::start`].
    pub async fn launch() -> TestkitResult<Self> {
        Self::builder().start().await
    }

    /// A server to be set up.
    pub fn builder() -> PostgresBuilder {
        PostgresBuilder::default()
    }

    // ===== where it is =====

    /// The URL of the database that it comes with, for its superuser.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of(DATABASE)
    }

    /// The URL of one of its databases, for its superuser.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.port.number())
    }

    /// Its port on 127.0.0.1. It stays the same through restarts.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port.number()
    }

    /// The process id of its first process; none when it is down.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.daemon.as_ref().map(Daemon::pid)
    }

    /// What it has written to its log.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.cluster.log()).unwrap_or_default()
    }

    /// Its data directory.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.cluster.data()
    }

    // ===== SQL, beside the client under test =====

    /// Runs SQL through `psql` as the superuser, and gives what it answered: rows by line, columns
    /// by `|`.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Server`] with what `psql` said.
    pub async fn sql(&self, sql: &str) -> TestkitResult<String> {
        self.sql_in(DATABASE, sql).await
    }

    /// The same in another database.
    ///
    /// # Errors
    ///
    /// As [`PostgresServer::sql`].
    pub async fn sql_in(&self, database: &str, sql: &str) -> TestkitResult<String> {
        let (psql, account) = (self.programs.program("psql"), self.account.clone());
        let (url, sql) = (self.url_of(database), sql.to_owned());
        let arguments =
            ["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", &url, "-c", &sql].map(str::to_owned);
        tokio::task::spawn_blocking(move || run(&account, &psql, arguments))
            .await
            .map_err(|error| TestkitError::system("running psql")(error.into()))?
    }

    // ===== what happens to it =====

    /// Starts it, after [`PostgresServer::stop`] or [`PostgresServer::kill`], on the data that is
    /// there; comes back when it takes connections.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Server`] when it does not come up.
    pub async fn start(&mut self) -> TestkitResult<()> {
        self.write_settings()?;
        let data = self.cluster.data();
        let postgres = self.programs.program("postgres");
        let arguments = ["-D".into(), data.into_os_string()];
        let (program, arguments) = self.account.command(&postgres, arguments);
        let mut daemon = Daemon::start(&program, arguments, &self.cluster.log())?;
        let up = eventually(PATIENCE, "a server that takes connections", || {
            let up = !daemon.is_running() || self.is_ready();
            async move { up.then_some(()) }
        });
        up.await?;
        if !daemon.is_running() {
            return Err(daemon.failed("did not start"));
        }
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Stops it as an operator would, clients or not: everything is written down before.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`] when it goes on.
    pub async fn stop(&mut self) -> TestkitResult<()> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(()) };
        daemon.signal(Signal::INT)?;
        eventually(PATIENCE, "the end of a server", || {
            let ended = !daemon.is_running();
            async move { ended.then_some(()) }
        })
        .await
    }

    /// Ends all of its processes as `kill -9` does, and comes back when they are gone: a server
    /// does not start while a process of its predecessor is left.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`] when one stays.
    pub async fn kill(&mut self) -> TestkitResult<()> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(()) };
        let backends = processes::children(daemon.pid());
        daemon.kill();
        processes::signal(&backends, Signal::KILL)?;
        eventually(PATIENCE, "the end of a server's processes", || {
            let gone = processes::are_gone(&backends);
            async move { gone.then_some(()) }
        })
        .await
    }

    /// Stops and starts it.
    ///
    /// # Errors
    ///
    /// As for both.
    pub async fn restart(&mut self) -> TestkitResult<()> {
        self.stop().await?;
        self.start().await
    }

    /// Halts all of its processes (SIGSTOP). Its sockets stay open.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the system refuses.
    pub fn pause(&mut self) -> TestkitResult<()> {
        self.signal_all(Signal::STOP)
    }

    /// Lets it go on after [`PostgresServer::pause`].
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the system refuses.
    pub fn resume(&mut self) -> TestkitResult<()> {
        self.signal_all(Signal::CONT)
    }

    fn signal_all(&mut self, signal: Signal) -> TestkitResult<()> {
        let Some(daemon) = &mut self.daemon else { return Ok(()) };
        // First who makes new ones.
        daemon.signal(signal)?;
        processes::signal(&processes::children(daemon.pid()), signal)
    }

    // ===== starting =====

    fn write_settings(&self) -> TestkitResult<()> {
        let port = self.port.number().to_string();
        let usual = [
            ("listen_addresses", "127.0.0.1"),
            ("port", &port),
            ("unix_socket_directories", ""),
            ("shared_buffers", "32MB"),
            // In the data directory, which goes: a server that is killed leaves it behind.
            ("dynamic_shared_memory_type", "mmap"),
            ("fsync", "on"),
            ("max_connections", "100"),
            ("log_line_prefix", "%m [%p] %a "),
        ];
        let own = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut text = String::new();
        for (name, value) in usual.into_iter().chain(own) {
            // The last of several lines for one setting counts.
            let _ = writeln!(text, "{name} = '{}'", value.replace('\'', "''"));
        }
        fs::write(self.cluster.data().join("postgresql.auto.conf"), text)
            .map_err(TestkitError::system("a server's settings"))
    }

    /// Whether it says so itself: the last line of its lock file does.
    fn is_ready(&self) -> bool {
        let file = fs::read_to_string(self.cluster.data().join("postmaster.pid"));
        let status = file.unwrap_or_default();
        let ready = status.lines().nth(7).map(str::trim);
        ready == Some("ready") && TcpStream::connect(self.port.address()).is_ok()
    }
}

impl Drop for PostgresServer {
    /// Without its parent a process ends by itself, but not if it is halted.
    fn drop(&mut self) {
        let Some(mut daemon) = self.daemon.take() else { return };
        let backends = processes::children(daemon.pid());
        daemon.kill();
        let _ = processes::signal(&backends, Signal::KILL);
    }
}
