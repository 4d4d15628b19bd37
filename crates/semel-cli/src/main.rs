//! The `semel` command: retries made harmless, from a shell.
//!
//! A command line walks one way: `args` (as written) → `plan` (resolved and
//! checked) → `commands` (done) → `output` (data to stdout, all else to stderr).

mod args;
mod child;
mod commands;
mod exit;
mod output;
mod plan;

use std::process::ExitCode;

use exit::Exit;

fn main() -> ExitCode {
    if let Some(code) = child::role(std::env::args_os()) {
        return code;
    }
    let finished = args::read().and_then(plan::resolve).and_then(commands::run);
    match finished {
        Ok(code) => code,
        Err(stop) => {
            let message = stop.message();
            if !message.is_empty() {
                output::prose(&message);
            }
            if let Exit::Interrupted(key) = stop.exit {
                key.end_us();
            }
            stop.exit.code()
        }
    }
}
