//! The command behind `--`.

use std::ffi::OsString;

/// A program and its arguments, as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
}

impl CommandLine {
    /// The parser sees to it that there is a program; an empty one can't be found, as in a shell.
    pub(super) fn of(words: Vec<OsString>) -> Self {
        let mut words = words.into_iter();
        Self { program: words.next().unwrap_or_default(), args: words.collect() }
    }
}
