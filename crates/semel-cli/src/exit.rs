//! Why the program stops, and with which code.

use std::fmt;
use std::process::ExitCode;

use crate::child::InterruptKey;

/// Exit codes of our own, after `sysexits.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// A store can be used, and something about it should be changed.
    Warned,
    /// A store would be refused.
    Refused,
    /// A flag or its value is wrong.
    Usage,
    /// The address or the store can't be had.
    Unavailable,
    /// Something of this machine failed: a thread, a signal handler.
    OsError,
    /// A file can't be read or written, or isn't what it should be.
    Io,
    /// Work was still running when the time to drain was over.
    CutOff,
    /// What was asked for is not there, or not in a state in which that can be done.
    NotSo,
    /// The key was used for something else.
    KeyReused,
    /// It was done, and its answer was not kept.
    NotKept,
    /// Somebody else is at it.
    Busy,
    /// The lock is lost, or the outcome can't be known.
    Lost,
    /// The interrupt key, in front of us.
    Interrupted(InterruptKey),
    /// A code that somebody else chose: the command, or a flag.
    Chosen(u8),
}

impl Exit {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Warned => 1,
            Self::Refused => 2,
            Self::Usage => 64,
            Self::Unavailable => 69,
            Self::OsError => 71,
            Self::Io => 74,
            Self::CutOff | Self::Busy => 75,
            Self::NotSo => 1,
            Self::KeyReused => 65,
            Self::NotKept => 66,
            Self::Lost => 76,
            Self::Interrupted(_) => 130,
            Self::Chosen(code) => code,
        })
    }
}

/// The end of the program before its work was done: what was wrong, and what
/// was expected instead.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) exit: Exit,
    wrong: String,
    expected: Option<String>,
}

impl Stop {
    pub(crate) fn new(exit: Exit, wrong: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self { exit, wrong: wrong.to_string(), expected: Some(expected.to_string()) }
    }

    /// A message that stands for itself, such as the parser's own.
    pub(crate) fn plain(exit: Exit, message: impl fmt::Display) -> Self {
        Self { exit, wrong: message.to_string(), expected: None }
    }

    /// An end that was explained already.
    pub(crate) const fn silent(exit: Exit) -> Self {
        Self { exit, wrong: String::new(), expected: None }
    }

    /// A flag's value is refused.
    pub(crate) fn flag(flag: &str, got: &str, expected: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, format_args!("{flag} {got:?} is refused"), expected)
    }

    /// The text for stderr: one line for what was wrong, one for what to do.
    pub(crate) fn message(&self) -> String {
        match &self.expected {
            Some(expected) => format!("semel: {}\n       {expected}", self.wrong),
            None => self.wrong.clone(),
        }
    }
}
