//! A server process that ends with the test, however the test ends.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{TestkitError, TestkitResult};
use crate::time::eventually;

/// Runs a command and watches standard input, of which the test holds the other end. The end of
/// the test closes it, be it a return, a panic or `kill -9`: then the command is killed. (A signal
/// on the parent's death is no use: it comes when the *thread* ends that started the process.) As
/// long as this shell is there it has not waited for the command, whose number is then no other's.
const WATCH: &str = r#"
exec 3<&0
log=$1; scratch=$2; shift 2
"$@" </dev/null >>"$log" 2>&1 3<&- &
command=$!
echo "$command"
exec >/dev/null
( read -r _ <&3
  test -z "$scratch" || : >"$scratch/orphaned"
  kill -0 $$ 2>/dev/null && kill -KILL "$command" 2>/dev/null
) &
watch=$!
exec 3<&-
wait "$command"
code=$?
kill "$watch" 2>/dev/null
test -z "$scratch" || ! test -e "$scratch/orphaned" || rm -rf "$scratch"
exit "$code"
"#;

/// How many lines of a log an error shows.
const LOG_LINES: usize = 15;

/// A running server process. Dropped, it is killed and gone.
#[derive(Debug)]
pub struct Daemon {
    name: String,
    log: PathBuf,
    pid: Pid,
    watcher: Child,
    /// Closed, it ends the server.
    leash: Option<ChildStdin>,
}

impl Daemon {
    /// Starts `program` with its output appended to the file `log`. It is in a process group of
    /// its own: an interrupt at the keyboard reaches the test only.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when no process can be made. A program that can't be run shows
    /// as one that ended at once.
    pub fn start<A: AsRef<OsStr>>(
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
        log: &Path,
    ) -> TestkitResult<Self> {
        Self::watch(program, arguments, log, OsStr::new(""))
    }

    /// The same for a server that has a directory to itself, with its log in it: where the test
    /// ends without dropping the server, by `kill -9` or because a `static` holds it, the
    /// directory is removed too.
    ///
    /// # Errors
    ///
    /// As [`Daemon::start`].
    pub fn start_in<A: AsRef<OsStr>>(
        directory: &Path,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> TestkitResult<Self> {
        Self::watch(program, arguments, &directory.join("log"), directory.as_os_str())
    }

    fn watch<A: AsRef<OsStr>>(
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
        log: &Path,
        scratch: &OsStr,
    ) -> TestkitResult<Self> {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut watcher = Command::new("/bin/sh")
            .arg("-c")
            .arg(WATCH)
            .arg("watch")
            .arg(log)
            .arg(scratch)
            .arg(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(TestkitError::system(format!("starting {name}")))?;
        let leash = watcher.stdin.take();
        let pid = read_pid(&mut watcher).map_err(TestkitError::system("a process id"))?;
        Ok(Self { name, log: log.to_owned(), pid, watcher, leash })
    }

    /// The process id of the server itself.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether it still runs; a paused one does.
    pub fn is_running(&mut self) -> bool {
        matches!(self.watcher.try_wait(), Ok(None))
    }

    /// Sends a signal, unless it has ended.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the system refuses.
    pub fn signal(&mut self, signal: Signal) -> TestkitResult<()> {
        if !self.is_running() {
            return Ok(());
        }
        kill_process(self.pid, signal).map_err(|error| {
            TestkitError::system(format!("signalling {}", self.name))(error.into())
        })
    }

    /// Stops all its threads, as a long pause of the machine would. Its sockets stay open.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the system refuses.
    pub fn pause(&mut self) -> TestkitResult<()> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on after [`Daemon::pause`].
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the system refuses.
    pub fn resume(&mut self) -> TestkitResult<()> {
        self.signal(Signal::CONT)
    }

    /// Ends it as `kill -9` does, and comes back when it is gone.
    pub fn kill(&mut self) {
        if self.signal(Signal::KILL).is_err() {
            self.leash = None;
        }
        // Only then the leash: closed while the server runs, it means that nobody is left.
        let _ = self.watcher.wait();
        self.leash = None;
    }

    /// Asks it to end, and comes back when it has.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`] when it goes on for longer than `limit`.
    pub async fn terminate(&mut self, limit: Duration) -> TestkitResult<()> {
        self.signal(Signal::TERM)?;
        let what = format!("the end of {}", self.name);
        eventually(limit, &what, || {
            let ended = !self.is_running();
            async move { ended.then_some(()) }
        })
        .await
    }

    /// An error about this server, with the end of its log.
    #[must_use]
    pub fn failed(&self, what: &str) -> TestkitError {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.len().saturating_sub(LOG_LINES);
        TestkitError::Server {
            what: format!("{} {what}", self.name),
            log: lines[last..].join("\n"),
        }
    }
}

fn read_pid(watcher: &mut Child) -> std::io::Result<Pid> {
    let no_pid = || std::io::Error::other("the shell gave none");
    let mut line = String::new();
    BufReader::new(watcher.stdout.take().ok_or_else(no_pid)?).read_line(&mut line)?;
    line.trim().parse().ok().and_then(Pid::from_raw).ok_or_else(no_pid)
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{Command, Daemon};
    use crate::time::eventually;

    const LIMIT: Duration = Duration::from_secs(10);

    fn is_alive(pid: u32) -> bool {
        Path::new(&format!("/proc/{pid}")).exists()
    }

    #[tokio::test]
    async fn a_server_that_is_dropped_is_gone() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = directory.path().join("log");
        let daemon = Daemon::start(Path::new("/bin/sleep"), ["1000"], &log).expect("a process");
        let pid = daemon.pid();
        assert!(is_alive(pid), "it must run");
        drop(daemon);
        assert!(!is_alive(pid), "it must be gone");
    }

    #[tokio::test]
    async fn a_server_that_ends_by_itself_is_noticed() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = directory.path().join("log");
        let mut daemon = Daemon::start(Path::new("/bin/sh"), ["-c", "echo why >&2; exit 3"], &log)
            .expect("a process");
        eventually(LIMIT, "its end", || {
            let ended = !daemon.is_running();
            async move { ended.then_some(()) }
        })
        .await
        .expect("it must end");
        assert!(daemon.failed("ended").to_string().contains("why"), "the log must be shown");
    }

    /// The test process is killed: nobody is left to clean up.
    #[tokio::test]
    async fn a_server_does_not_outlive_a_test_that_is_killed() {
        let directory = tempfile::tempdir().expect("a directory");
        let pids = directory.path().join("pid");
        let script = format!(
            "mkfifo {0}/leash; exec 9<>{0}/leash; \
             mkdir {0}/scratch; \
             /bin/sh -c \"$1\" watch {0}/log {0}/scratch /bin/sleep 1000 < {0}/leash 9>&- > {1} & \
             while ! test -s {1}; do :; done; kill -KILL $$",
            directory.path().display(),
            pids.display(),
        );
        Command::new("/bin/sh").args(["-c", &script, "test", super::WATCH]).status().expect("sh");
        let pid = std::fs::read_to_string(&pids).expect("a pid").trim().parse().expect("a number");
        eventually(LIMIT, "the end of the server", || async { (!is_alive(pid)).then_some(()) })
            .await
            .expect("it must die with who started it");
        let scratch = directory.path().join("scratch");
        eventually(LIMIT, "the end of its data", || async { (!scratch.exists()).then_some(()) })
            .await
            .expect("its directory must go with it");
    }
}
