//! The terminal: who is in its foreground.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal as NixSignal};
use rustix::process::{Pid, Signal, getpgid, getpgrp, getppid, getsid, kill_current_process_group};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::group::ProcessGroup;

/// Our controlling terminal.
#[derive(Debug)]
pub(super) struct Terminal(File);

impl Terminal {
    /// None where there is none: under cron, in a service.
    pub(super) fn ours() -> Option<Self> {
        let tty = File::options().read(true).write(true).open("/dev/tty").ok()?;
        tcgetpgrp(&tty).is_ok().then_some(Self(tty))
    }

    /// Whether we are in its foreground.
    pub(super) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.0) == Ok(getpgrp())
    }

    /// Puts the command into the foreground if we are there: then its keys, its signals and its
    /// screen are its own. A job in the background stays there.
    pub(super) fn give_to(&self, group: ProcessGroup) {
        if self.is_ours() {
            let _ = tcsetpgrp(&self.0, group.id());
        }
    }

    /// Takes the foreground back from the command.
    pub(super) fn take_back_from(&self, group: ProcessGroup) {
        if tcgetpgrp(&self.0) == Ok(group.id()) {
            set_from_background(&self.0, getpgrp());
        }
    }
}

/// A process in the background that sets the foreground is stopped for it, unless it blocks that
/// signal.
fn set_from_background(tty: &File, group: Pid) {
    let mut stop = SigSet::empty();
    stop.add(NixSignal::SIGTTOU);
    let Ok(before) = stop.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK) else { return };
    let _ = tcsetpgrp(tty, group);
    let _ = before.thread_set_mask();
}

/// Stops our own group, as the command was stopped, so that the shell gets its prompt back. It
/// returns when the shell continues us; at once where nobody could.
pub(super) fn stop_us() -> Stopped {
    if !is_a_shells_job() {
        return Stopped::Not;
    }
    match kill_current_process_group(Signal::STOP) {
        Ok(()) => Stopped::AndContinued,
        Err(_) => Stopped::Not,
    }
}

/// Whether we were stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    AndContinued,
    Not,
}

/// A group is a shell's job if our parent is in another group of the same session. Otherwise
/// nobody would continue us.
fn is_a_shells_job() -> bool {
    let Some(parent) = getppid() else { return false };
    getsid(Some(parent)).is_ok_and(|theirs| getsid(None) == Ok(theirs))
        && getpgid(Some(parent)).is_ok_and(|theirs| theirs != getpgrp())
}
