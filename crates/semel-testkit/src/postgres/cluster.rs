//! Data directories.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::programs::Programs;
use super::shared_memory;
use crate::account::Account;
use crate::error::{TestkitError, TestkitResult};
use crate::scratch::{self, Medium};

/// The name of the directories of servers, before the number of the process that made them.
const PREFIX: &str = "semel-postgres-";

/// Where in such a directory the data is.
const DATA: &str = "data";

/// The directory of one server, with its data and its log. Removed when dropped, and what a test
/// that was killed left behind is removed by the next one.
#[derive(Debug)]
pub(super) struct Cluster {
    directory: TempDir,
}

impl Cluster {
    pub(super) fn make(
        programs: &Programs,
        account: &Account,
        medium: Medium,
    ) -> TestkitResult<Self> {
        remove_orphans();
        let template = template(programs, account)?;
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let directory = scratch::directory(&prefix, medium)
            .map_err(TestkitError::system("a directory for a server"))?;
        account.give(directory.path())?;
        let cluster = Self { directory };
        run(account, Path::new("cp"), [Path::new("-R"), &template, &cluster.data()])?;
        Ok(cluster)
    }

    pub(super) fn data(&self) -> PathBuf {
        self.directory.path().join(DATA)
    }

    /// Puts a certificate and its key where the server looks for them, and lets in nobody who does
    /// not ask for it, except the superuser.
    pub(super) fn take_certificate(
        &self,
        account: &Account,
        certificate: &Path,
        key: &Path,
    ) -> TestkitResult<()> {
        let failed = || TestkitError::system("a server's certificate");
        for (from, to) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = self.data().join(to);
            fs::copy(from, &to).map_err(failed())?;
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).map_err(failed())?;
            account.give(&to)?;
        }
        let rules =
            "hostnossl all postgres 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 trust\n";
        fs::write(self.data().join("pg_hba.conf"), rules).map_err(failed())
    }

    pub(super) fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        shared_memory::free(&self.data());
    }
}

/// A data directory to copy. Of several tests that find none one makes it, and the others wait.
fn template(programs: &Programs, account: &Account) -> TestkitResult<PathBuf> {
    let initdb = programs.program("initdb");
    let version = run(account, &initdb, ["--version"])?;
    let version: String = version.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let place = std::env::temp_dir().join(format!("semel-testkit-{version}-{}", account.uid()));
    let ready = place.join("data");
    if ready.exists() {
        return Ok(ready);
    }
    fs::create_dir_all(&place).map_err(TestkitError::system("a directory for a template"))?;
    account.give(&place)?;
    let lock = File::create(place.join("lock")).map_err(TestkitError::system("a lock"))?;
    lock.lock().map_err(TestkitError::system("a lock"))?;
    if !ready.exists() {
        let unready = place.join("unready");
        let _ = fs::remove_dir_all(&unready);
        initialise(account, &initdb, &unready)?;
        fs::rename(&unready, &ready).map_err(TestkitError::system("a template"))?;
    }
    Ok(ready)
}

fn initialise(account: &Account, initdb: &Path, data: &Path) -> TestkitResult<()> {
    let data = format!("--pgdata={}", data.display());
    let arguments = [
        data.as_str(),
        "--no-sync",
        "--auth=trust",
        "--username=postgres",
        "--encoding=UTF8",
        // Not the one that orders by bytes: a store must not depend on it.
        "--locale-provider=icu",
        "--icu-locale=en",
        "--locale=C.UTF-8",
    ];
    run(account, initdb, arguments).map(drop)
}

/// Runs a program to its end and gives what it printed.
pub(super) fn run<A: AsRef<std::ffi::OsStr>>(
    account: &Account,
    program: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> TestkitResult<String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (program, arguments) = account.command(program, arguments);
    let output = Command::new(program)
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .map_err(TestkitError::system(format!("running {name}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(TestkitError::Server { what: format!("{name} ended with {}", output.status), log })
}

/// Removes the directories of processes that are gone.
fn remove_orphans() {
    let there = scratch::places().into_iter().filter_map(|place| fs::read_dir(place).ok());
    for entry in there.flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let Some(pid) = rest.split('-').next().and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        if !super::processes::exists(pid) {
            shared_memory::free(&entry.path().join(DATA));
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
