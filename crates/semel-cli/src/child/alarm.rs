//! Waiting for input, at most until a moment.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, Result};

use super::moment::Moment;

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Woken {
    /// There is something to read, or its other end is gone. It goes first.
    Input,
    /// The moment is there.
    Time,
}

/// A timer of the system.
#[derive(Debug)]
pub(super) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: std::os::fd::OwnedFd,
}

// ===== Linux: a timer that goes on while the machine sleeps =====

#[cfg(target_os = "linux")]
impl Alarm {
    pub(super) fn new() -> Result<Self> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let flags = TimerfdFlags::CLOEXEC;
        Ok(Self { timer: timerfd_create(TimerfdClockId::Boottime, flags)? })
    }

    pub(super) fn wait(&self, input: impl AsFd, until: Option<Moment>) -> Result<Woken> {
        self.set(until)?;
        let mut ready =
            [PollFd::new(&input, PollFlags::IN), PollFd::new(&self.timer, PollFlags::IN)];
        loop {
            match poll(&mut ready, None) {
                Err(Errno::INTR) => {}
                other => break other.map(drop)?,
            }
        }
        Ok(if ready[0].revents().is_empty() { Woken::Time } else { Woken::Input })
    }

    /// Sets the timer; a time of zero switches it off.
    fn set(&self, until: Option<Moment>) -> Result<()> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let time =
            Itimerspec { it_interval: never, it_value: until.map_or(never, Moment::timespec) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &time).map(drop)
    }
}

// ===== elsewhere: looking at the clock every now and then =====

#[cfg(not(target_os = "linux"))]
impl Alarm {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {})
    }

    pub(super) fn wait(&self, input: impl AsFd, until: Option<Moment>) -> Result<Woken> {
        use rustix::time::Timespec;
        use std::time::Duration;
        const LOOK: Duration = Duration::from_millis(100);
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        loop {
            let left = until.map(|until| until.left().min(LOOK));
            let limit = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut ready, limit.as_ref()) {
                Ok(0) if until.is_some_and(Moment::is_past) => return Ok(Woken::Time),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(Woken::Input),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn input_goes_before_time_and_time_comes_without_input() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let alarm = Alarm::new().unwrap();
        let soon = Moment::now().after(Duration::from_millis(20));
        assert_eq!(alarm.wait(&reader, Some(soon)).unwrap(), Woken::Time);
        assert!(soon.is_past());
        writer.write_all(b"x").unwrap();
        assert_eq!(alarm.wait(&reader, Some(soon)).unwrap(), Woken::Input);
        assert_eq!(alarm.wait(&reader, None).unwrap(), Woken::Input);
    }

    #[test]
    fn the_end_of_the_input_is_input() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(writer);
        assert_eq!(Alarm::new().unwrap().wait(&reader, None).unwrap(), Woken::Input);
    }
}
