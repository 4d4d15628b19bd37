//! What can go wrong in a harness.

use std::io;

/// The result of what the harness does.
pub type TestkitResult<T> = Result<T, TestkitError>;

/// A harness that could not do what it was asked: never a finding about the code under test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestkitError {
    /// A program is not installed.
    #[error("`{program}` is not installed: `{install}`, or name it in {variable}")]
    Missing {
        /// The program.
        program: &'static str,
        /// What to run so that it is.
        install: &'static str,
        /// The environment variable that may name it.
        variable: &'static str,
    },
    /// A server did not do what it should.
    #[error("{what}; the last lines of its log:\n{log}")]
    Server {
        /// What it did not do.
        what: String,
        /// The end of its log.
        log: String,
    },
    /// A server answered with an error.
    #[error("the server answered `{answer}` to {command}")]
    Answer {
        /// The command's name.
        command: String,
        /// The error it gave.
        answer: String,
    },
    /// Something did not happen in time.
    #[error("{what}: not within {seconds} s")]
    TooLate {
        /// What was waited for.
        what: String,
        /// For how long, in seconds.
        seconds: f32,
    },
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl TestkitError {
    /// What turns an error of the system into one of the harness.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}
