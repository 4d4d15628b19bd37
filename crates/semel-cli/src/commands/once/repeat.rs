//! A repeat: what the first run printed, and its code.

use std::process::ExitCode;

use semel::core::Outcome;

use super::record::Run;
use crate::child::Stream;
use crate::exit::{Exit, Stop};
use crate::output;

pub(super) fn print(key: &str, outcome: &Outcome) -> Result<ExitCode, Stop> {
    let Some(run) = Run::read(outcome) else { return Err(not_kept(key, None)) };
    let Some(printed) = run.printed() else { return Err(not_kept(key, Some(run.code))) };
    for (stream, bytes) in printed {
        match stream {
            Stream::Out => output::bytes(bytes),
            Stream::Err => output::error_bytes(bytes),
        }
    }
    Ok(ExitCode::from(run.code))
}

/// It ran, and can't be repeated: silence would pass for what it printed.
pub(super) fn not_kept(key: &str, code: Option<u8>) -> Stop {
    let ended = code.map_or_else(String::new, |code| format!(" and ended with {code}"));
    Stop::new(
        Exit::NotKept,
        format_args!("{key} ran already{ended}; what it printed was not kept"),
        "a larger --max-output keeps more, for the next key",
    )
}
