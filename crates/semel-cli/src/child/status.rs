//! How a command ended, or why it never ran.

use std::io;
use std::time::Duration;

use rustix::process::{Signal, WaitStatus};

use super::capture::Captured;
use super::job::InterruptKey;
use super::tenure::Gone;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It ended by itself, with this code.
    Exited(u8),
    /// This signal ended it.
    Signaled(u8),
}

impl End {
    /// None for a process that has not ended.
    pub(super) fn of(status: WaitStatus) -> Option<Self> {
        let low = |number: i32| u8::try_from(number & 0xff).unwrap_or(u8::MAX);
        let exited = status.exit_status().map(|code| Self::Exited(low(code)));
        exited.or_else(|| status.terminating_signal().map(|signal| Self::Signaled(low(signal))))
    }

    pub(super) fn is_by(self, signal: Signal) -> bool {
        u8::try_from(signal.as_raw()).map(Self::Signaled) == Ok(self)
    }

    /// The exit code, as shells have it: a signal is 128 and its number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128_u8.saturating_add(signal),
        }
    }
}

/// A command that is over.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How.
    pub(crate) end: End,
    /// Why it never ran, if so.
    pub(crate) not_run: Option<NotRun>,
    /// The key that ended it, if one did.
    pub(crate) key: Option<InterruptKey>,
    /// Why it was ended for what it ran under, if so.
    pub(crate) gone: Option<Gone>,
    /// How long it ran.
    pub(crate) ran: Duration,
    /// What it printed, where that went through us.
    pub(crate) printed: Option<Captured>,
}

/// Why a command never ran.
#[derive(Debug)]
pub(crate) enum NotRun {
    /// The system would not run it.
    Failed(io::Error),
    /// What it would have run under was over before it began.
    TooLate,
}

impl NotRun {
    /// As the trampoline tells it.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Failed(error) => error.raw_os_error().unwrap_or_default().to_string(),
            Self::TooLate => "late".to_owned(),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        match std::str::from_utf8(bytes).ok()? {
            "late" => Some(Self::TooLate),
            number => number.parse().ok().map(io::Error::from_raw_os_error).map(Self::Failed),
        }
    }

    /// The exit code, as shells have it: 127 for what is not there, 126 for what can't be run.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Failed(error) if error.kind() == io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_it_never_ran_reads_back() {
        for errno in [2, 8, 13] {
            let why = NotRun::Failed(io::Error::from_raw_os_error(errno));
            let Some(NotRun::Failed(read)) = NotRun::parse(why.line().as_bytes()) else { panic!() };
            assert_eq!(read.raw_os_error(), Some(errno));
        }
        assert!(matches!(NotRun::parse(b"late"), Some(NotRun::TooLate)));
        assert!(NotRun::parse(b"?").is_none());
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!(End::Signaled(15).code(), 143);
        assert_eq!(End::Exited(42).code(), 42);
    }
}
