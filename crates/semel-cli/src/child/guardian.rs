//! The guardian: a process that outlives us only to kill what we leave behind.

use std::process::ExitCode;

use nix::sys::signal::SigSet;
use rustix::io::Errno;
use rustix::stdio::stdin;

use super::alarm::{Alarm, Woken};
use super::group::ProcessGroup;
use super::moment::Moment;
use super::order::Order;

/// Reads orders from stdin until one says that all is over, or until they end without one.
pub(super) fn run() -> ExitCode {
    // It began in a group of its own: what is sent to ours, by the terminal too, never reached it.
    // Nor does a `killall`, from here on. It is alone, so it fails for nothing that could be
    // mended: each of these makes it safer, none is what it is for.
    let _ = SigSet::all().thread_block();
    let _ = std::env::set_current_dir("/");
    match Guard::default().stand() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[derive(Debug, Default)]
struct Guard {
    group: Option<ProcessGroup>,
    until: Option<Moment>,
    /// A line whose end has not come yet.
    line: Vec<u8>,
}

/// Whether to go on.
#[derive(Debug, PartialEq, Eq)]
enum Watch {
    On,
    Over,
}

impl Guard {
    fn stand(mut self) -> Result<(), Errno> {
        let alarm = Alarm::new()?;
        let mut bytes = [0; 256];
        loop {
            if alarm.wait(stdin(), self.until)? == Woken::Time {
                self.until = None;
                self.kill();
                continue;
            }
            match rustix::io::read(stdin(), &mut bytes) {
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => {
                    // Whoever started us is gone without a word.
                    self.kill();
                    return Ok(());
                }
                Ok(count) if self.take(&bytes[..count]) == Watch::Over => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Watch {
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            match std::str::from_utf8(&line).ok().and_then(Order::parse) {
                Some(Order::Watch(group)) => self.group = Some(group),
                Some(Order::Until(moment)) => self.until = Some(moment),
                Some(Order::Over) => return Watch::Over,
                None => {}
            }
        }
        Watch::On
    }

    fn kill(&self) {
        if let Some(group) = self.group {
            group.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::Pid;

    #[test]
    fn orders_are_lines_however_they_arrive() {
        let mut guard = Guard::default();
        let group = ProcessGroup::new(Pid::from_raw(12).unwrap());
        assert_eq!(guard.take(b"wat"), Watch::On);
        assert_eq!(guard.take(b"ch 12\nuntil 5\nuntil 6\nov"), Watch::On);
        assert_eq!(guard.group, Some(group));
        assert_eq!(guard.until, "6".parse().ok());
        assert_eq!(guard.take(b"er\n"), Watch::Over);
    }
}
