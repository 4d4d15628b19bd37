//! Starting a command: the trampoline, and the word that lets it go.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::io::IoSlice;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, getpid};
use rustix::stdio::stdin;
use tokio::io::AsyncReadExt;

use super::TRAMPOLINE;
use super::capture::Pipes;
use super::moment::Moment;
use super::status::NotRun;

/// A command to run: the program, its arguments, and what is added to its environment.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) environment: Vec<(&'static str, String)>,
    pub(crate) output: Output,
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
    pub(super) fn start(&self) -> io::Result<Waiting> {
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

impl Waiting {
    /// Lets it become the command, unless `deadline` is past by then.
    pub(super) fn go(self, deadline: Option<Moment>) -> io::Result<(Control, Option<Pipes>)> {
        let word = Go { deadline }.line();
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

/// The word that lets a trampoline go.
#[derive(Debug)]
pub(super) struct Go {
    /// When it is too late to begin.
    pub(super) deadline: Option<Moment>,
}

impl Go {
    fn line(&self) -> String {
        self.deadline.map_or_else(|| "go".to_owned(), |deadline| format!("go {deadline}"))
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = std::str::from_utf8(bytes).ok()?.strip_prefix("go")?;
        match rest.strip_prefix(' ') {
            Some(deadline) => Some(Self { deadline: Some(deadline.parse().ok()?) }),
            None => rest.is_empty().then_some(Self { deadline: None }),
        }
    }
}

/// This program, to be started in another role. The link holds also when the file was replaced.
pub(super) fn this_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_reads_back() {
        let deadline = Some(Moment::now());
        assert_eq!(Go::parse(Go { deadline }.line().as_bytes()).unwrap().deadline, deadline);
        assert_eq!(Go::parse(b"go").unwrap().deadline, None);
        assert!(Go::parse(b"").is_none() && Go::parse(b"going").is_none());
    }
}
