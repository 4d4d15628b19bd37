//! Starting a command: the trampoline, and the word that lets it go.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::io::IoSlice;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use rustix::stdio::stdin;
use tokio::io::AsyncReadExt;

use super::TRAMPOLINE;
use super::capture::Pipes;
use super::group::ProcessGroup;
use super::moment::Moment;
use super::status::NotRun;
use super::this_program::this_program;
use super::ward::Ward;

/// A command to run: the program, its arguments, and what is added to its environment.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) environment: Environment,
    pub(crate) output: Output,
}

/// What is added to an environment.
pub(crate) type Environment = Vec<(&'static str, String)>;

/// A command that is ready to begin, and waits for its word: what starting costs can be had while
/// something else is waited for.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(super) ward: Ward,
    pub(super) waiting: Waiting,
}

/// Where the command's stdout and stderr go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Where ours go.
    Inherited,
    /// Through us.
    Piped,
}

/// A trampoline that waits for its word.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) pid: Pid,
    control: UnixStream,
    pipes: Option<(OwnedFd, OwnedFd)>,
}

impl Launch {
    /// Starts the guardian and the trampoline, together: one starts while the other does.
    pub(crate) fn prepare(&self) -> io::Result<Prepared> {
        let mut ward = Ward::start()?;
        let waiting = match self.start() {
            Ok(waiting) => waiting,
            Err(error) => {
                ward.dismiss();
                return Err(error);
            }
        };
        ward.watch(ProcessGroup::new(waiting.pid))?;
        Ok(Prepared { ward, waiting })
    }

    fn start(&self) -> io::Result<Waiting> {
        let (control, theirs) = UnixStream::pair()?;
        let mut command = Command::new(this_program()?);
        command
            .arg(TRAMPOLINE)
            .arg(getpid().as_raw_pid().to_string())
            .arg(&self.program)
            .args(&self.args)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(OwnedFd::from(theirs))
            .process_group(0);
        if self.output == Output::Piped {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let mut child = command.spawn()?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        let pipes = pipes.map(|(out, err)| (OwnedFd::from(out), OwnedFd::from(err)));
        Ok(Waiting { pid: Pid::from_child(&child), control, pipes })
    }
}

impl Prepared {
    /// There is nothing to run.
    pub(crate) fn call_off(self) {
        let pid = self.waiting.pid;
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
        self.ward.dismiss();
    }
}

impl Waiting {
    /// Lets it become the command, with this in its environment besides, unless `deadline` is past
    /// by then.
    pub(super) fn go(
        self,
        deadline: Option<Moment>,
        environment: Environment,
    ) -> io::Result<(Control, Option<Pipes>)> {
        let word = Go { deadline, environment: owned(environment) }.line();
        let (real, mut space) =
            ([stdin()], [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))]);
        let mut brought = SendAncillaryBuffer::new(&mut space);
        brought.push(SendAncillaryMessage::ScmRights(&real));
        let word = [IoSlice::new(word.as_bytes())];
        sendmsg(self.control.as_fd(), &word, &mut brought, SendFlags::empty())?;
        self.control.set_nonblocking(true)?;
        let control = Control(Some(tokio::net::UnixStream::from_std(self.control)?));
        Ok((control, self.pipes.map(Pipes::new).transpose()?))
    }
}

/// Tells whether the trampoline became the command.
#[derive(Debug)]
pub(super) struct Control(Option<tokio::net::UnixStream>);

impl Control {
    /// Whether it has not told yet.
    pub(super) const fn is_untold(&self) -> bool {
        self.0.is_some()
    }

    /// Why there is no command; none when there is. Asked again, it never answers. Cancel safe:
    /// the one message is short and comes whole.
    pub(super) async fn told(&mut self) -> Option<NotRun> {
        let Some(socket) = &mut self.0 else { return std::future::pending().await };
        let mut bytes = [0; 32];
        let read = socket.read(&mut bytes).await;
        self.0 = None;
        match read {
            Ok(count) if count > 0 => NotRun::parse(&bytes[..count]),
            _ => None,
        }
    }
}

fn owned(environment: Environment) -> Vec<(String, String)> {
    environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The word that lets a trampoline go: a line, and one for each variable.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Go {
    /// When it is too late to begin.
    pub(super) deadline: Option<Moment>,
    pub(super) environment: Vec<(String, String)>,
}

impl Go {
    /// The longest word, in bytes: what is in it is short.
    pub(super) const MOST: usize = 1024;

    fn line(&self) -> String {
        let mut word = "go".to_owned();
        if let Some(deadline) = self.deadline {
            word.push_str(&format!(" {deadline}"));
        }
        for (name, value) in &self.environment {
            word.push_str(&format!("\n{name}={value}"));
        }
        word
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        let first = lines.next()?.strip_prefix("go")?;
        let deadline = match first.strip_prefix(' ') {
            Some(deadline) => Some(deadline.parse().ok()?),
            None if first.is_empty() => None,
            None => return None,
        };
        let variable = |line: &str| {
            line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        Some(Self { deadline, environment: lines.map(variable).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_reads_back() {
        let variables = [("SEMEL_LOCK_FENCE", "7"), ("X", "a=b")];
        let environment: Vec<_> =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        for deadline in [None, Some(Moment::now())] {
            for environment in [Vec::new(), environment.clone()] {
                let go = Go { deadline, environment };
                assert_eq!(Go::parse(go.line().as_bytes()), Some(go));
            }
        }
        for none in ["", "going", "go x", "go\nX"] {
            assert_eq!(Go::parse(none.as_bytes()), None, "{none:?}");
        }
    }
}
