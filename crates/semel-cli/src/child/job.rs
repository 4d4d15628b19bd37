//! The shell's job that we are a part of.

use nix::unistd::{getpgid, getpgrp, getppid, getsid};
use rustix::process::{Signal, getpid, kill_current_process_group};
use signal_hook::low_level::emulate_default_handler;

/// Whether we were stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    AndContinued,
    Not,
}

/// Stops our own group, as the command was stopped, so that the shell gets its prompt back. It
/// returns when the shell continues us; at once where nobody could.
pub(super) fn stop() -> Stopped {
    if !has_a_shell() {
        return Stopped::Not;
    }
    match kill_current_process_group(Signal::STOP) {
        Ok(()) => Stopped::AndContinued,
        Err(_) => Stopped::Not,
    }
}

/// The interrupt key, pressed in the foreground of a terminal: it was meant for all of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterruptKey {
    /// Our whole group was in the foreground, and had it.
    ForAll,
    /// The command alone was there.
    ForTheCommand,
}

impl InterruptKey {
    /// Ends this program by it, for a shell's job: a script that is told "130" takes it for a code
    /// like others, and goes on with its next line. A script gets the signal too, which is what
    /// `sh` looks at; `bash` looks at how we ended. It returns where no shell watches us.
    pub(crate) fn end_us(self) {
        // The first process of a container can't be ended by it.
        if !has_a_shell() || getpid().is_init() {
            return;
        }
        if self == Self::ForTheCommand {
            let _ = kill_current_process_group(Signal::INT);
        }
        let _ = emulate_default_handler(Signal::INT.as_raw());
    }
}

/// Whether our group is a shell's job. Not just our parent can tell: it is a part of the job
/// itself where the shell runs a script that runs us.
#[cfg(target_os = "linux")]
fn has_a_shell() -> bool {
    use super::stat::Stat;

    let Some(all) = Stat::all() else { return is_our_parent_a_shell() };
    is_watched(getpgrp().as_raw(), &all.collect::<Vec<_>>())
}

/// Elsewhere just our parent is asked.
#[cfg(not(target_os = "linux"))]
fn has_a_shell() -> bool {
    is_our_parent_a_shell()
}

/// Plain numbers are compared: 0 is an id from outside our container, and a parent from there.
fn is_our_parent_a_shell() -> bool {
    let parent = Some(getppid());
    getsid(parent).is_ok_and(|theirs| getsid(None) == Ok(theirs))
        && getpgid(parent).is_ok_and(|theirs| theirs != getpgrp())
}

/// A group is watched if the parent of a member is in another group of the same session; POSIX
/// calls one that isn't *orphaned*. A group from outside our container (0) can't be told from
/// others out there, and nobody in here would continue it.
#[cfg(target_os = "linux")]
fn is_watched(group: i32, all: &[super::stat::Stat]) -> bool {
    let is_shell_of = |member: &super::stat::Stat| {
        all.iter().any(|parent| {
            parent.pid == member.parent
                && parent.session == member.session
                && parent.group != member.group
        })
    };
    let mut members = all.iter().filter(|process| process.group == group && !process.is_dead);
    group != 0 && members.any(is_shell_of)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::stat::Stat;
    use super::*;

    const fn process(pid: i32, parent: i32, group: i32, session: i32) -> Stat {
        Stat { pid, parent, group, session, is_dead: false }
    }

    #[test]
    fn a_job_of_a_shell_is_watched_also_through_a_script() {
        let shell = process(10, 1, 10, 10);
        assert!(is_watched(20, &[shell, process(20, 10, 20, 10)]));
        let (script, semel) = (process(20, 10, 20, 10), process(21, 20, 20, 10));
        assert!(is_watched(20, &[shell, script, semel]));
        assert!(!is_watched(20, &[shell, Stat { is_dead: true, ..script }, semel]));
    }

    #[test]
    fn a_leader_of_a_session_is_watched_by_nobody() {
        assert!(!is_watched(20, &[process(10, 1, 10, 10), process(20, 10, 20, 20)]));
    }

    #[test]
    fn without_a_list_of_processes_our_parent_is_asked() {
        // The same answer, where our parent alone decides.
        let parent_is_of_our_group = getpgid(Some(getppid())) == Ok(getpgrp());
        assert!(parent_is_of_our_group || is_our_parent_a_shell() == has_a_shell());
    }

    /// The parent's session had the number 0: it was from outside the container. That was taken
    /// for ours, semel stopped itself, and hung for ever.
    #[test]
    fn sessions_from_outside_are_told_from_our_own() {
        let runner = process(10, 1, 10, 0);
        assert!(!is_watched(20, &[runner, process(20, 10, 20, 20)]));
        assert!(is_watched(20, &[runner, process(20, 10, 20, 0)]));
        assert!(!is_watched(0, &[process(1, 0, 0, 0), process(10, 1, 0, 0)]));
    }
}
