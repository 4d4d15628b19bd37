//! The real binary, as a process that can be ended, killed and started again.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::OnceCell;

use super::records::Records;
use super::{Call, Client, Http, signals, within};

const BINARY: &str = env!("CARGO_BIN_EXE_semel");

/// What server processes share: the orders, in a file, and the store of the records.
#[derive(Debug)]
pub(crate) struct Files {
    folder: TempDir,
    records: OnceCell<Records>,
}

impl Files {
    pub(crate) fn new() -> Self {
        signals::as_at_a_login();
        Self { folder: tempfile::tempdir().unwrap(), records: OnceCell::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a server on these files and waits until it listens.
    pub(crate) async fn start(&self, flags: &[&str]) -> Server {
        self.records.get_or_init(Records::start).await;
        let log =
            std::fs::File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut child = self.command(flags).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = within("the first line on stdout", lines.next_line()).await.unwrap();
        let Some(first) = first else {
            panic!("it did not start: {}", self.log());
        };
        let at = first.strip_prefix("semel demo listening on http://").unwrap().parse().unwrap();
        let grpc = match flags.iter().any(|flag| flag.starts_with("--grpc-listen")) {
            false => None,
            true => {
                let second = within("the second line on stdout", lines.next_line()).await;
                let second = second.unwrap().unwrap();
                let at = second.strip_prefix("semel demo listening on ").unwrap();
                Some(at.strip_suffix(" for gRPC").unwrap().parse().unwrap())
            }
        };
        Server { child, at, grpc }
    }

    /// New files and a server on them. The files go with the first value.
    pub(crate) async fn new_server(flags: &[&str]) -> (Self, Server) {
        let files = Self::new();
        let server = files.start(flags).await;
        (files, server)
    }

    /// A start on these files that is refused: its exit code and its message.
    pub(crate) async fn refused(&self, flags: &[&str]) -> (i32, String) {
        end_of(&mut self.command(flags)).await
    }

    /// What the servers on these files wrote to stderr so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }

    fn store_url(&self) -> String {
        let server = self.records.get().and_then(Records::url);
        server.unwrap_or_else(|| format!("sqlite:{}", self.path("records.db").display()))
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .arg("demo")
            .args(["--data", self.path("orders.db").to_str().unwrap()])
            .env("SEMEL_STORE", self.store_url())
            .args(flags)
            .args((!flags.contains(&"--listen")).then_some("--listen=127.0.0.1:0"))
            .env_remove("SEMEL_KEY_SECRET")
            .env_remove("RUST_LOG")
            .env("RUST_BACKTRACE", "0")
            .kill_on_drop(true);
        command
    }
}

/// Runs `semel demo` with flags that it refuses, to its end.
pub(crate) async fn refused(flags: &[&str]) -> (i32, String) {
    let mut command = Command::new(BINARY);
    end_of(command.arg("demo").args(flags).env_remove("SEMEL_STORE")).await
}

async fn end_of(command: &mut Command) -> (i32, String) {
    let Output { status, stdout, stderr } =
        within("the end of a refused start", command.kill_on_drop(true).output()).await.unwrap();
    assert!(stdout.is_empty(), "a refusal is no data");
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

/// A running server process. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) at: SocketAddr,
    /// Where it serves gRPC, if it does.
    pub(crate) grpc: Option<SocketAddr>,
}

impl Server {
    /// A client of this server that is Alice unless a call says otherwise.
    pub(crate) async fn client(&self, http: Http) -> Client {
        Client::connect(self.at, http).await
    }

    /// How often the handler of an operation has run, by the server's own meter.
    pub(crate) async fn executions(&self, operation: &str) -> u64 {
        let answer = self.client(Http::One).await.send(Call::get("/executions")).await;
        answer.json()[operation].as_u64().unwrap()
    }

    /// The names of all orders of Alice's tenant.
    pub(crate) async fn orders(&self) -> Vec<String> {
        let answer = self.client(Http::One).await.send(Call::get("/orders")).await;
        let name = |order: &serde_json::Value| order["name"].as_str().unwrap().to_owned();
        answer.json().as_array().unwrap().iter().map(name).collect()
    }

    /// The most memory that the process held at any time, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id().unwrap());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    }

    /// kill -9, and waits until the process is gone.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Asks the process to end, as a service manager does.
    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    }

    /// Waits for the process to end by itself.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        within("the end of the server", self.child.wait()).await.unwrap()
    }
}
