//! The trampoline: a process of ours that becomes the command.
//!
//! It exists for what must happen between "started" and "is the command", in the process itself:
//! its life is tied to its parent's, and it waits until the guardian knows of it. It is a program
//! of its own rather than code between fork and exec, where hardly anything is safe.
//!
//! Its stdin is one end of a socket. The first message brings the deadline and the real stdin;
//! what it answers is why the command could not be run, and the socket closes when it could.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::io::{IoSliceMut, fcntl_dupfd_cloexec};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, getppid};
use rustix::stdio::{dup2_stdin, stdin};

use super::begin::Go;
use super::status::NotRun;

/// An exit that nobody sees: whoever started us is gone, or the command was called off.
const CALLED_OFF: ExitCode = ExitCode::FAILURE;

#[cfg(target_os = "linux")]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// Elsewhere what is received is closed before the command begins all the same.
#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();

/// `PARENT CMD ARGS…`.
pub(super) fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let parent = args.next().and_then(|parent| parent.to_str()?.parse().ok());
    let (Some(parent), Some(program)) = (parent.and_then(Pid::from_raw), args.next()) else {
        return CALLED_OFF;
    };
    if !is_tied_to(parent) {
        return CALLED_OFF;
    }
    let Ok((control, go)) = wait_for_go() else { return CALLED_OFF };
    let why = match go.deadline {
        Some(deadline) if deadline.is_past() => NotRun::TooLate,
        _ => NotRun::Failed(Command::new(program).args(args).envs(go.environment).exec()),
    };
    // Whoever reads it is gone at worst.
    let _ = rustix::io::write(&control, why.line().as_bytes());
    ExitCode::from(why.code())
}

/// Ties our life to our parent's. A parent that is gone already is not ours any more.
fn is_tied_to(parent: Pid) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        if set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
            return false;
        }
    }
    getppid() == Some(parent)
}

/// Waits for the first message, and takes the stdin that it brings.
fn wait_for_go() -> io::Result<(OwnedFd, Go)> {
    let control = fcntl_dupfd_cloexec(stdin(), 3)?;
    let mut bytes = [0; Go::MOST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut brought = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(control.as_fd(), &mut [IoSliceMut::new(&mut bytes)], &mut brought, CLOSE_ON_EXEC)?;
    let real = brought.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let (Some(real), Some(go)) = (real, Go::parse(&bytes[..received.bytes])) else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    dup2_stdin(&real)?;
    Ok((control, go))
}
