//! A directory of one test's own, a store, and the binary.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use super::{Running, signals, within};

const BINARY: &str = env!("CARGO_BIN_EXE_semel");

/// Where a test happens. Commands run in its directory.
#[derive(Debug)]
pub(crate) struct Bench {
    directory: TempDir,
    store: String,
}

/// A process that ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    /// On a SQLite file.
    pub(crate) fn new() -> Self {
        signals::as_at_a_login();
        let directory = tempfile::tempdir().unwrap();
        let store = format!("sqlite:{}", directory.path().join("semel.db").display());
        Self { directory, store }
    }

    /// On another store.
    pub(crate) fn on(store: &str) -> Self {
        Self { store: store.to_owned(), ..Self::new() }
    }

    /// The store's URL.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// What a file says; nothing where there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// The binary with these arguments, nothing connected to it yet.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(args)
            .current_dir(self.path())
            .env("SEMEL_STORE", &self.store)
            .env_remove("RUST_LOG")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs it to its end.
    pub(crate) async fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Done {
        Done::of(&mut self.command(args)).await
    }

    /// Starts it, and goes on.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Running {
        Running::start(&mut self.command(args))
    }

    /// Starts `semel lock run RESOURCE FLAGS -- sh -c SCRIPT`.
    pub(crate) fn lock(&self, resource: &str, flags: &[&str], script: &str) -> Running {
        let before = ["lock", "run", resource];
        let after = ["--", "sh", "-c", script];
        self.start(before.iter().chain(flags).chain(&after))
    }

    /// The same to its end.
    pub(crate) async fn locked(&self, resource: &str, flags: &[&str], script: &str) -> Done {
        self.lock(resource, flags, script).done().await
    }
}

impl Done {
    pub(crate) async fn of(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = within("the end of a command", command.output()).await.unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
