//! The processes of a server: PostgreSQL is many.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::error::{TestkitError, TestkitResult};

/// Whether there is a process of this number, be it a dead one that nobody has waited for.
pub(super) fn exists(pid: u32) -> bool {
    let Some(pid) = to_pid(pid) else { return false };
    // "Not permitted" is an answer about a process that is there.
    !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// Whether it still does something or holds something.
fn is_alive(pid: u32) -> bool {
    match stat(pid) {
        Some((state, _)) => state != 'Z' && state != 'X',
        None => false,
    }
}

/// The processes that this one has started.
pub(super) fn children(of: u32) -> Vec<u32> {
    let Ok(all) = fs::read_dir(Path::new("/proc")) else { return Vec::new() };
    let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|(_, parent)| parent == of)).collect()
}

/// State and parent, from the kernel's own line about a process.
fn stat(pid: u32) -> Option<(char, u32)> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything: what follows the last one counts.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Sends a signal to each; those that are gone don't matter.
pub(super) fn signal(pids: &[u32], signal: Signal) -> TestkitResult<()> {
    for pid in pids.iter().filter_map(|pid| to_pid(*pid)) {
        match kill_process(pid, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(TestkitError::system("signalling a server")(error.into())),
        }
    }
    Ok(())
}

/// Whether none of them is left.
pub(super) fn are_gone(pids: &[u32]) -> bool {
    !pids.iter().any(|pid| is_alive(*pid))
}

fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::{children, exists, is_alive};

    #[test]
    fn a_child_is_found_by_its_parent() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("a process");
        let pid = child.id();
        assert!(children(std::process::id()).contains(&pid), "it must be listed");
        child.kill().expect("it must end");
        assert!(exists(pid), "it is there until it is waited for");
        child.wait().expect("it must end");
        assert!(!exists(pid) && !is_alive(pid), "it must be gone");
    }
}
