//! PgBouncer in front of a server.

use std::net::TcpStream;
use std::time::Duration;

use tempfile::TempDir;

use super::server::PostgresServer;
use crate::account::Account;
use crate::daemon::Daemon;
use crate::error::{TestkitError, TestkitResult};
use crate::port::Port;
use crate::program::Program;
use crate::time::eventually;

const PGBOUNCER: Program = Program {
    name: "pgbouncer",
    variable: "SEMEL_PGBOUNCER",
    places: &["/usr/sbin", "/usr/bin", "/usr/local/bin"],
    install: "apt-get install pgbouncer",
};

const PATIENCE: Duration = Duration::from_secs(30);

/// A pooler that gives each transaction whichever server connection is free, two at most.
#[derive(Debug)]
pub struct PgBouncer {
    _daemon: Daemon,
    _directory: TempDir,
    port: Port,
}

impl PgBouncer {
    /// Starts one in front of a server.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Missing`] where it is not installed; else what went wrong.
    pub async fn start(server: &PostgresServer) -> TestkitResult<Self> {
        let (program, account) = (PGBOUNCER.find()?, Account::find()?);
        let directory = tempfile::tempdir().map_err(TestkitError::system("a directory"))?;
        account.give(directory.path())?;
        let port = Port::free()?;
        let settings = directory.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 2\nmax_client_conn = 200\n",
            server.port(),
            port.number()
        );
        // `any` lets in everybody as the one user that is named here.
        let text = text.replace("* = host", "* = user=postgres host");
        account.write(&settings, text)?;
        let (program, arguments) = account.command(&program, [&settings]);
        let log = directory.path().join("log");
        let mut daemon = Daemon::start(&program, arguments, &log)?;
        eventually(PATIENCE, "a pooler that takes connections", || {
            let up = !daemon.is_running() || TcpStream::connect(port.address()).is_ok();
            async move { up.then_some(()) }
        })
        .await?;
        if !daemon.is_running() {
            return Err(daemon.failed("did not start"));
        }
        Ok(Self { _daemon: daemon, _directory: directory, port })
    }

    /// The URL of the server's first database through the pooler.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", self.port.number())
    }
}
