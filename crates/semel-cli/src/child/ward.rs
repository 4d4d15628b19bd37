//! Our side of the guardian.

use std::io::{self, PipeWriter, Write, pipe};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::GUARDIAN;
use super::group::ProcessGroup;
use super::moment::Moment;
use super::order::Order;
use super::this_program::this_program;
use crate::output;

/// A guardian that runs, and what it was told: another takes its place if it dies.
#[derive(Debug)]
pub(super) struct Ward {
    guardian: Guardian,
    group: Option<ProcessGroup>,
    until: Option<Moment>,
}

#[derive(Debug)]
struct Guardian {
    pid: Pid,
    /// Its end is what the guardian lives for. Closed on exec, so that no command holds it open.
    pipe: PipeWriter,
}

impl Ward {
    pub(super) fn start() -> io::Result<Self> {
        Ok(Self { guardian: Guardian::start()?, group: None, until: None })
    }

    /// Names the group. What comes after can't leave it behind.
    pub(super) fn watch(&mut self, group: ProcessGroup) -> io::Result<()> {
        self.group = Some(group);
        self.guardian.tell(Order::Watch(group))
    }

    /// Names the moment at which the group must be gone.
    pub(super) fn until(&mut self, moment: Moment) {
        self.until = Some(moment);
        // A guardian that is gone is replaced when the system tells of its end.
        let _ = self.guardian.tell(Order::Until(moment));
    }

    /// Puts another in its place if it has died. One that was stopped goes on: it would sleep
    /// through the moment that it is there for.
    pub(super) fn look(&mut self) -> io::Result<()> {
        match waitpid(Some(self.guardian.pid), WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            Ok(None) => return Ok(()),
            Ok(Some((_, status))) if status.stopped() => {
                return Ok(kill_process(self.guardian.pid, Signal::CONT)?);
            }
            _ => {}
        }
        output::prose("semel: the guardian process was killed; another takes its place");
        self.guardian = Guardian::start()?;
        if let Some(until) = self.until {
            self.guardian.tell(Order::Until(until))?;
        }
        self.group.map_or(Ok(()), |group| self.guardian.tell(Order::Watch(group)))
    }

    /// The group is gone: the guardian goes as well.
    pub(super) fn dismiss(mut self) {
        // The word first: killed or not, it does nothing more.
        let _ = self.guardian.tell(Order::Over);
        let _ = kill_process(self.guardian.pid, Signal::KILL);
        let _ = waitpid(Some(self.guardian.pid), WaitOptions::empty());
    }
}

impl Guardian {
    fn start() -> io::Result<Self> {
        let (reader, pipe) = pipe()?;
        let guardian: Child = Command::new(this_program()?)
            .arg(GUARDIAN)
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // From its first moment on: a stop of our group would stop what is to outlast it.
            .process_group(0)
            .spawn()?;
        Ok(Self { pid: Pid::from_child(&guardian), pipe })
    }

    fn tell(&mut self, order: Order) -> io::Result<()> {
        self.pipe.write_all(order.line().as_bytes())
    }
}
