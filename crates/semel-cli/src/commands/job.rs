//! What the commands that run a command share.

use std::io;
use std::process::ExitCode;

use rustix::process::Signal;

use crate::child::{End, InterruptKey, Launch, NotRun, Signals};
use crate::exit::{Exit, Stop};

/// Takes over the signals: from now on they are passed on, or end a wait.
pub(super) fn signals() -> Result<Signals, Stop> {
    Signals::register().map_err(|error| {
        let wrong = format_args!("signals can't be taken: {error}");
        Stop::new(Exit::OsError, wrong, "they are passed on to the command")
    })
}

/// The end of a wait that a signal ended.
pub(super) fn by_signal(signal: Signal) -> Stop {
    let number = u8::try_from(signal.as_raw()).unwrap_or(u8::MAX);
    let code = Exit::Chosen(128_u8.saturating_add(number));
    Stop::silent(Signals::key(signal).map_or(code, Exit::Interrupted))
}

/// The end of the command is ours.
pub(super) fn as_the_command(end: End, key: Option<InterruptKey>) -> Result<ExitCode, Stop> {
    match key {
        Some(key) => Err(Stop::silent(Exit::Interrupted(key))),
        None => Ok(ExitCode::from(end.code())),
    }
}

/// This machine has no room for a process, or something like it. Nothing was run.
pub(super) fn not_started(error: &io::Error) -> Stop {
    Stop::new(
        Exit::OsError,
        format_args!("no process can be started: {error}"),
        "the command, and a guardian that ends it if semel dies, need one each",
    )
}

/// The system does not tell how the command ended.
pub(super) fn not_watched(error: &io::Error) -> Stop {
    Stop::new(
        Exit::OsError,
        format_args!("the end of the command can't be known: {error}"),
        "it is killed as this program ends",
    )
}

/// The command can't be run, as a shell says it.
pub(super) fn not_run(launch: &Launch, why: &NotRun) -> Stop {
    let name = launch.program.display();
    match why {
        NotRun::Failed(error) if why.code() == 127 => {
            Stop::plain(Exit::Chosen(127), format_args!("semel: {name}: {}", Reason(error)))
        }
        NotRun::Failed(error) => {
            Stop::plain(Exit::Chosen(126), format_args!("semel: {name}: {}", Reason(error)))
        }
        NotRun::TooLate => Stop::new(
            Exit::Lost,
            "the lock ended before the command began, so it was not run",
            "this machine was stopped or overloaded; a longer --ttl bears more of that",
        ),
    }
}

/// An error of the system without its number.
struct Reason<'a>(&'a io::Error);

impl std::fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.0.to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        match self.0.kind() {
            io::ErrorKind::NotFound => out.write_str("command not found"),
            _ => out.write_str(text),
        }
    }
}
