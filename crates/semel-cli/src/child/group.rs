//! A process group: the command, and all that it started and that did not leave the group.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::output;

/// The group that a command leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessGroup(Pid);

impl ProcessGroup {
    pub(super) const fn new(leader: Pid) -> Self {
        Self(leader)
    }

    pub(super) const fn id(self) -> Pid {
        self.0
    }

    /// Sends a signal to all of it. A group that is gone needs none.
    pub(super) fn signal(self, signal: Signal) {
        if let Err(error) = kill_process_group(self.0, signal)
            && error != Errno::SRCH
        {
            output::prose(&format!("semel: the command can't be sent a signal: {error}"));
        }
    }

    /// Asks all of it to end. What is stopped is woken: it could not end otherwise.
    pub(super) fn terminate(self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Ends all of it.
    pub(super) fn kill(self) {
        self.signal(Signal::KILL);
    }

    /// Whether anything of it still runs. Dead processes that nobody has waited for don't.
    #[cfg(target_os = "linux")]
    pub(super) fn is_alive(self) -> bool {
        test_kill_process_group(self.0) != Err(Errno::SRCH) && self.has_living_member()
    }

    /// Elsewhere a group of dead processes refuses a signal.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_alive(self) -> bool {
        test_kill_process_group(self.0).is_ok()
    }

    #[cfg(target_os = "linux")]
    fn has_living_member(self) -> bool {
        let Some(mut all) = super::stat::Stat::all() else { return true };
        all.any(|process| process.group == self.0.as_raw_pid() && !process.is_dead)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_group_lives_as_long_as_a_member_and_not_by_one_that_nobody_waited_for() {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        let mut leader = command.spawn().unwrap();
        let group = ProcessGroup::new(Pid::from_child(&leader));
        assert!(group.is_alive());
        drop(leader.stdin.take());
        while group.is_alive() {
            std::thread::yield_now();
        }
        assert!(leader.wait().unwrap().success());
    }
}
