//! Other processes: this same test program, started again with a role to play.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use semel_core::{Expect, Store, Swap, Touch};
use semel_sqlite::SqliteStore;

use crate::support::{claim, key, open, put, won};
use crate::{closing, full, hints};

const ROLE: &str = "SEMEL_SQLITE_TEST_ROLE";
const FILE: &str = "SEMEL_SQLITE_TEST_FILE";

/// A process that plays a role on a file. It is killed when this is dropped.
pub(crate) struct Other {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Other {
    pub(crate) fn start(role: &str, file: &Path) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), role, file)
    }

    /// The same, with at most this many bytes in any file that it writes.
    pub(crate) fn start_with_file_limit(role: &str, file: &Path, bytes: u64) -> Self {
        let mut shell = Command::new("sh");
        // The unit of `ulimit -f` is 512 bytes. The signal that goes with the limit is ignored, so
        // that writes fail as they do on a broken disk.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 512);
        shell.arg("-c").arg(script).arg(std::env::current_exe().unwrap());
        Self::run(shell, role, file)
    }

    fn run(mut command: Command, role: &str, file: &Path) -> Self {
        let mut child = command
            .args(["child::plays_the_role_it_was_given", "--exact", "--nocapture"])
            .env(ROLE, role)
            .env(FILE, file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// The next line that the process says to us; none when it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            // A line that was cut off by a kill does not count as said.
            if self.said.read_line(&mut line).unwrap() == 0 || !line.ends_with('\n') {
                return None;
            }
            // The test harness talks too, and does not always end its lines.
            if let Some((_, said)) = line.trim_end().split_once("> ") {
                return Some(said.to_owned());
            }
        }
    }

    /// Ends it as a power switch would: nothing of it runs any more.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// All that it still says, after it has ended well.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.hear()).collect();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "the other process failed: {status}; it said {said:?}");
        said
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says a line to the process that started this one.
pub(crate) fn say(line: impl std::fmt::Display) {
    use std::io::Write;
    // In one write, so that lines of several threads don't mix; and out at once.
    std::io::stdout().write_all(format!("> {line}\n").as_bytes()).unwrap();
}

/// Not a test of its own: what other processes run. Without a role it has nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plays_the_role_it_was_given() {
    let (Ok(role), Some(file)) = (std::env::var(ROLE), std::env::var_os(FILE)) else { return };
    let file = Path::new(&file);
    match role.as_str() {
        "open" => drop(open(file).await),
        "count" => count(&open(file).await).await,
        "stream" => stream(open(file).await).await,
        "change" => change(&open(file).await).await,
        "fill" => full::fill(&open(file).await).await,
        "threads" => closing::threads_and_files_come_and_go(file).await,
        "idle" => hints::the_writer_sleeps_unless_somebody_waits(file).await,
        "crowd" => hints::a_crowd_holds_nothing(file).await,
        other => panic!("no such role: {other}"),
    }
}

/// How often each process adds one.
pub(crate) const ADDED: usize = 250;

/// Adds one to a shared number, again and again, and says the version of each addition.
async fn count(store: &SqliteStore) {
    let key = key("sum");
    for _ in 0..ADDED {
        loop {
            let seen = store.read(&key, Touch::No).await.unwrap().entry;
            let (expect, sum) = match &seen {
                None => (Expect::Absent, 0),
                Some(entry) => (Expect::Version(entry.version), number(&entry.value)),
            };
            let swap = store.swap(&key, expect, put((sum + 1).to_string())).await;
            if let Swap::Won(stamp) = swap.unwrap() {
                say(stamp.version);
                break;
            }
        }
    }
}

/// The number behind the secret that each value begins with.
pub(crate) fn number(value: &[u8]) -> u64 {
    let digits: Vec<u8> = value.iter().copied().skip(crate::support::SECRET.len()).collect();
    std::str::from_utf8(&digits).unwrap().parse().unwrap()
}

/// Claims fresh keys from several tasks for as long as it lives, and says each once it is
/// acknowledged.
async fn stream(store: SqliteStore) {
    let run = std::process::id();
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let store = store.clone();
            tokio::spawn(async move {
                for turn in 0.. {
                    let name = format!("{run}-{task}-{turn}");
                    let stamp = won(claim(&store, &name).await);
                    say(format!("{name} {}", stamp.version));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Changes a key that others wait for.
async fn change(store: &SqliteStore) {
    won(store.swap(&key("watched"), Expect::Any, put("changed")).await);
    say("changed");
}
