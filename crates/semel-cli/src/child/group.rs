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

    /// A process in state Z or X is dead, and stays until its parent looks: in a container that
    /// may be for ever.
    #[cfg(target_os = "linux")]
    fn has_living_member(self) -> bool {
        let Ok(processes) = std::fs::read_dir("/proc") else { return true };
        processes
            .flatten()
            .filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit())
            .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
            .any(|stat| self.lives(&stat).unwrap_or(false))
    }

    /// Whether a line of `/proc/PID/stat` is of a living member. The name in parentheses may hold
    /// anything, so what counts stands behind the last one: state, parent, group.
    #[cfg(target_os = "linux")]
    fn lives(self, stat: &str) -> Option<bool> {
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let group: i32 = fields.nth(1)?.parse().ok()?;
        Some(group == self.0.as_raw_pid() && !matches!(state, "Z" | "X" | "x"))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_member_lives_by_its_state_whatever_its_name() {
        let group = ProcessGroup::new(Pid::from_raw(7).unwrap());
        assert_eq!(group.lives("9 (a) Z 1 7 7) S 1 7 7 0"), Some(true));
        assert_eq!(group.lives("9 (sleep) Z 1 7 7 0"), Some(false));
        assert_eq!(group.lives("9 (sleep) R 7 8 8 0"), Some(false));
        assert_eq!(group.lives("9 (sleep"), None);
    }

    #[test]
    fn our_own_group_lives() {
        assert!(ProcessGroup::new(rustix::process::getpgrp()).is_alive());
    }
}
