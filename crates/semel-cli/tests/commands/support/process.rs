//! Processes, as the system tells of them.

use rustix::process::{Pid, Signal, kill_process};

/// A process that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// The group in the foreground of its terminal; negative without one.
    pub(crate) foreground: i32,
    pub(crate) state: String,
}

impl Process {
    /// All that have not ended: dead ones that nobody waited for are left out.
    pub(crate) fn all() -> Vec<Self> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let stats =
            entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        stats.filter_map(|stat| Self::parse(&stat)).collect()
    }

    /// The one with this id, if it has not ended.
    pub(crate) fn find(pid: i32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// From `/proc/PID/stat`; none for a dead one.
    pub(crate) fn parse(stat: &str) -> Option<Self> {
        let (pid, rest) = stat.split_once(' ')?;
        let fields: Vec<&str> = rest.rsplit_once(") ")?.1.split(' ').collect();
        let number = |at: usize| fields.get(at)?.parse().ok();
        let state = (*fields.first()?).to_owned();
        (!matches!(state.as_str(), "Z" | "X")).then_some(Self {
            pid: pid.parse().ok()?,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            foreground: number(5)?,
            state,
        })
    }

    /// Whether it blocks a signal.
    pub(crate) fn blocks(&self, signal: Signal) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid));
        let status = status.unwrap_or_default();
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        blocked.unwrap_or_default() >> (signal.as_raw() - 1) & 1 == 1
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid).unwrap(), signal).unwrap();
    }
}

/// Whether the process has not ended.
pub(crate) fn is_alive(pid: i32) -> bool {
    Process::find(pid).is_some()
}
