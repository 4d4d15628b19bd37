//! One server process.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use crate::daemon::Daemon;
use crate::error::{TestkitError, TestkitResult};
use crate::port::Port;
use crate::program::Program;
use crate::redis::reply::{RedisReply, Wire, refuse_errors};
use crate::redis::settings::RedisServerBuilder;
use crate::scratch::{self, Medium};
use crate::time::{eventually, within};

/// Far longer than a start or an answer takes on a slow machine.
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// A `redis-server` on a port and in a directory of its own. Dropped, it is killed and its data
/// removed.
#[derive(Debug)]
pub struct RedisServer {
    daemon: Option<Daemon>,
    setup: RedisServerBuilder,
    program: PathBuf,
    port: Port,
    tls_port: Option<Port>,
    directory: TempDir,
}

impl RedisServerBuilder {
    /// Starts it, and comes back when it answers.
    ///
    /// # Errors
    ///
    /// [`TestkitError`](crate::TestkitError): it is not installed, or does not answer in time.
    pub async fn start(self) -> TestkitResult<RedisServer> {
        RedisServer::launch(self, Port::free()?).await
    }
}

impl RedisServer {
    /// Starts a server that keeps nothing on the disk.
    ///
    /// # Errors
    ///
    /// As [`RedisServerBuilder::start`].
    pub async fn start() -> TestkitResult<Self> {
        Self::builder().start().await
    }

    /// A server with settings of one's own.
    pub fn builder() -> RedisServerBuilder {
        RedisServerBuilder::default()
    }

    pub(super) async fn launch(setup: RedisServerBuilder, port: Port) -> TestkitResult<Self> {
        let program = Program::REDIS_SERVER.find()?;
        let directory = scratch::directory("semel-redis-", Medium::Memory)
            .map_err(TestkitError::system("a temporary directory"))?;
        let tls_port = setup.tls.then(Port::free).transpose()?;
        let mut server = Self { daemon: None, setup, program, port, tls_port, directory };
        server.write_configuration()?;
        server.run().await?;
        Ok(server)
    }

    fn write_configuration(&self) -> TestkitResult<()> {
        let directory = self.directory.path().display().to_string();
        let tls_port = self.tls_port.as_ref().map(Port::number);
        let lines = self.setup.file(self.port.number(), tls_port, &directory);
        fs::write(self.configuration(), lines).map_err(TestkitError::system("the configuration"))
    }

    fn configuration(&self) -> PathBuf {
        self.directory.path().join("redis.conf")
    }

    async fn run(&mut self) -> TestkitResult<()> {
        let mut arguments = vec![self.configuration().display().to_string()];
        if self.setup.sentinel {
            arguments.push("--sentinel".to_owned());
        }
        let daemon = Daemon::start_in(self.directory.path(), &self.program, arguments)?;
        let daemon = self.daemon.insert(daemon);
        let pid = daemon.pid();
        let ready = eventually(LIMIT, "an answer of the server", || {
            let ended = !daemon.is_running();
            let (address, password) = (self.port.address(), self.setup.password.as_deref());
            async move {
                if ended {
                    return Some(false);
                }
                is_ready(address, password).await.then_some(true)
            }
        })
        .await;
        match ready {
            Ok(true) => Ok(()),
            _ => Err(daemon.failed(&format!("(process {pid}) did not start"))),
        }
    }

    // ===== where it is =====

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Where it listens with TLS, if it does.
    #[must_use]
    pub fn tls_address(&self) -> Option<SocketAddr> {
        self.tls_port.as_ref().map(Port::address)
    }

    /// Its URL, with the password if it has one.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_at(self.address())
    }

    /// Its URL by way of another address: a proxy's.
    #[must_use]
    pub fn url_at(&self, address: SocketAddr) -> String {
        match &self.setup.password {
            Some(password) => format!("redis://:{password}@{address}/"),
            None => format!("redis://{address}/"),
        }
    }

    /// Where its data, its configuration and its log are.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    // ===== what is done to it =====

    /// Ends it as `kill -9` does. The data on the disk stays.
    pub fn kill(&mut self) {
        self.daemon = None;
    }

    /// Ends it in an orderly way. The data on the disk stays.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`] when it does not end.
    pub async fn shut_down(&mut self) -> TestkitResult<()> {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.terminate(LIMIT).await?;
        }
        Ok(())
    }

    /// Stops all its threads, as a long pause of the machine would.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the system refuses.
    pub fn pause(&mut self) -> TestkitResult<()> {
        self.daemon.as_mut().map_or(Ok(()), Daemon::pause)
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the system refuses.
    pub fn resume(&mut self) -> TestkitResult<()> {
        self.daemon.as_mut().map_or(Ok(()), Daemon::resume)
    }

    /// Starts it again on the same port with what is on the disk; kills it first if it runs.
    ///
    /// # Errors
    ///
    /// [`TestkitError`] when it does not answer in time.
    pub async fn restart(&mut self) -> TestkitResult<()> {
        self.kill();
        self.run().await
    }

    /// Starts it again on the same port without any data; kills it first if it runs.
    ///
    /// # Errors
    ///
    /// [`TestkitError`] when it does not answer in time.
    pub async fn restart_empty(&mut self) -> TestkitResult<()> {
        self.kill();
        for entry in
            fs::read_dir(self.directory.path()).map_err(TestkitError::system("a listing"))?
        {
            let path = entry.map_err(TestkitError::system("a listing"))?.path();
            let kept = path.ends_with("redis.conf") || path.ends_with("log");
            let removed = match (kept, path.is_dir()) {
                (true, _) => Ok(()),
                (false, true) => fs::remove_dir_all(&path),
                (false, false) => fs::remove_file(&path),
            };
            removed.map_err(TestkitError::system("removing the data"))?;
        }
        self.run().await
    }

    /// Starts it again with what is on the disk, and with another password.
    ///
    /// # Errors
    ///
    /// [`TestkitError`] when it does not answer in time.
    pub async fn restart_with_password(&mut self, password: &str) -> TestkitResult<()> {
        self.kill();
        self.setup = self.setup.clone().password(password);
        self.write_configuration()?;
        self.run().await
    }

    // ===== what it is asked =====

    /// Sends one command on a connection of its own.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Answer`] for an error it gives, and others when it can't be reached.
    pub async fn command(&self, command: &[&str]) -> TestkitResult<RedisReply> {
        let name = command.first().copied().unwrap_or_default();
        let asked = ask(self.address(), self.setup.password.as_deref(), command);
        let reply = within(LIMIT, name, asked).await?.map_err(TestkitError::system(name))?;
        refuse_errors(name, reply)
    }

    /// A field of `INFO`, as it is written there.
    ///
    /// # Errors
    ///
    /// As [`RedisServer::command`].
    pub async fn info(&self, section: &str, field: &str) -> TestkitResult<Option<String>> {
        let reply = self.command(&["INFO", section]).await?;
        let lines = reply.text().unwrap_or_default().lines();
        let mut values = lines.filter_map(|line| line.trim_end().split_once(':'));
        Ok(values.find(|(name, _)| *name == field).map(|(_, value)| value.to_owned()))
    }

    /// How often a command was called, by its name in lower case.
    ///
    /// # Errors
    ///
    /// As [`RedisServer::command`].
    pub async fn calls(&self, name: &str) -> TestkitResult<u64> {
        let stats = self.info("commandstats", &format!("cmdstat_{name}")).await?;
        let calls = stats.as_deref().and_then(|stats| stats.split(',').next());
        let calls = calls.and_then(|calls| calls.strip_prefix("calls="));
        Ok(calls.and_then(|calls| calls.parse().ok()).unwrap_or(0))
    }
}

async fn is_ready(address: SocketAddr, password: Option<&str>) -> bool {
    matches!(ask(address, password, &["PING"]).await, Ok(RedisReply::Text(text)) if text == "PONG")
}

async fn ask(
    address: SocketAddr,
    password: Option<&str>,
    command: &[&str],
) -> std::io::Result<RedisReply> {
    let mut wire = Wire::open(address).await?;
    if let Some(password) = password {
        wire.ask(&["AUTH", password]).await?;
    }
    wire.ask(command).await
}
