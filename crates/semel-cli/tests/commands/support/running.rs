//! A `semel` that runs.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use super::{Done, Process, until, within};

/// A `semel` that runs. It is killed when this is dropped, and its command with it.
#[derive(Debug)]
pub(crate) struct Running {
    child: Option<Child>,
    pub(crate) pid: Pid,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id().unwrap()).unwrap();
        Self { child: Some(child), pid: Pid::from_raw(pid).unwrap() }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// Waits until it has told this on stderr; what it told up to there is not part of what it is
    /// done with.
    pub(crate) async fn tells(&mut self, text: &str) {
        let stderr = self.child.as_mut().and_then(|child| child.stderr.as_mut()).unwrap();
        let mut told = Vec::new();
        let read = async {
            while !String::from_utf8_lossy(&told).contains(text) {
                told.push(stderr.read_u8().await.unwrap());
            }
        };
        within(text, read).await;
    }

    /// Waits for its end.
    pub(crate) async fn done(mut self) -> Done {
        let child = self.child.take().unwrap();
        let output = within("the end of semel", child.wait_with_output()).await.unwrap();
        Done {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// kill -9, and waits until it is gone.
    pub(crate) async fn kill(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().await.unwrap();
    }

    /// Its children: the guardian, and the command.
    pub(crate) fn children(&self) -> Vec<Process> {
        Process::all()
            .into_iter()
            .filter(|process| process.parent == self.pid.as_raw_pid())
            .collect()
    }

    /// Its trampoline, stopped before it became the command; none if it was too fast for that.
    pub(crate) async fn trampoline(&self) -> Option<Process> {
        self.stopped_at_once(b"__child").await
    }

    /// Its child in this role as it was when it appeared, and stopped then; none if it was gone
    /// too fast for that.
    pub(crate) async fn stopped_at_once(&self, role: &'static [u8]) -> Option<Process> {
        let semel = self.pid.as_raw_pid();
        tokio::task::spawn_blocking(move || stop_at_once(semel, role)).await.unwrap()
    }

    /// Its guardian, once it stands.
    pub(crate) async fn guardian(&self) -> Process {
        until("a guardian", async || {
            self.children()
                .into_iter()
                .find(|child| has_role(child.pid, b"__guard") && child.blocks(Signal::TERM))
        })
        .await
    }

    /// What it runs: its child that is not the guardian.
    pub(crate) fn command(&self) -> Option<Process> {
        self.children().into_iter().find(|child| !has_role(child.pid, b"__guard"))
    }
}

/// Whether a process is semel in this role.
fn has_role(pid: i32, role: &[u8]) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(role)
}

/// Looks without a pause: it is there for a millisecond or two.
fn stop_at_once(semel: i32, role: &[u8]) -> Option<Process> {
    let is_it = |pid: &str| pid.parse().is_ok_and(|pid| has_role(pid, role));
    while Process::find(semel).is_some() {
        let children = format!("/proc/{semel}/task/{semel}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let Some(found) = children.split_whitespace().find(|pid| is_it(pid)) else {
            continue;
        };
        let process = Process::find(found.parse().ok()?)?;
        process.signal(Signal::STOP);
        return is_it(found).then_some(process);
    }
    None
}
