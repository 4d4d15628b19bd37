//! The terminal: who is in its foreground.

use std::fs::File;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::os::fd::AsFd;

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use rustix::fs::{FileType, fstat};

use super::group::ProcessGroup;

/// Our controlling terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    tty: File,
    /// Whether the command is to be in the foreground whenever we are.
    is_the_commands: bool,
}

impl Terminal {
    /// None where there is none: under cron, in a service.
    pub(super) fn ours() -> Option<Self> {
        let tty = File::options().read(true).write(true).open("/dev/tty").ok()?;
        tcgetpgrp(&tty).is_ok().then(|| Self { tty, is_the_commands: is_ours_alone() })
    }

    /// Puts the command into the foreground if it belongs there and we are there: then its keys,
    /// its signals and its screen are its own. A job in the background stays there.
    pub(super) fn give_to(&self, group: ProcessGroup) {
        if self.is_the_commands {
            self.put(group);
        }
    }

    /// The same for a command that was stopped because it asked for the terminal: from now on it
    /// belongs there. Whether it is there.
    pub(super) fn give_on_demand(&mut self, group: ProcessGroup) -> bool {
        self.is_the_commands = true;
        self.put(group)
    }

    /// Whether we are in its foreground.
    pub(super) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.tty) == Ok(getpgrp())
    }

    fn put(&self, group: ProcessGroup) -> bool {
        self.is_ours() && tcsetpgrp(&self.tty, id(group)).is_ok()
    }

    /// Takes the foreground back from the command; whether it was there.
    pub(super) fn take_back_from(&self, group: ProcessGroup) -> bool {
        let was_there = tcgetpgrp(&self.tty) == Ok(id(group));
        if was_there {
            set_from_background(&self.tty, getpgrp());
        }
        was_there
    }
}

fn id(group: ProcessGroup) -> Pid {
    Pid::from_raw(group.id().as_raw_pid())
}

/// Whether the terminal is for nobody but us. In a pipeline somebody else may read the keys, a
/// pager: whoever of us was put into the foreground alone would stop the others, so it stays with
/// all until the command asks. A command whose input is something else rarely does.
fn is_ours_alone() -> bool {
    stdin().is_terminal() && !is_pipe(stdout()) && !is_pipe(stderr())
}

fn is_pipe(stream: impl AsFd) -> bool {
    let kind = fstat(stream).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(kind, Ok(FileType::Fifo | FileType::Socket))
}

/// A process in the background that sets the foreground is stopped for it, unless it blocks that
/// signal.
fn set_from_background(tty: &File, group: Pid) {
    let mut stop = SigSet::empty();
    stop.add(Signal::SIGTTOU);
    let Ok(before) = stop.thread_swap_mask(SigmaskHow::SIG_BLOCK) else { return };
    let _ = tcsetpgrp(tty, group);
    let _ = before.thread_set_mask();
}
