//! The project's own commands: `cargo xtask help` lists them.
//!
//! The map, in the order in which a run walks through it: `cli` (arguments →
//! what to do) → `step` (the table of steps, their order, times and summary) →
//! `checks` (what each step runs) → `shell` (one child process). `house` (with
//! `cases`) and `floors` are checks of our own that need no other tool; `servers`
//! finds or installs what the tests start; `conform`
//! and `proof` run chosen tests, by `runner`; `mcp_client` calls the demo from another language; `workspace` and `json` know what is
//! in here.
//!
//! It needs the Rust toolchain and nothing else: git and `cargo-nextest` are
//! used where they are installed.

mod cases;
mod checks;
mod cli;
mod conform;
mod features;
mod floors;
mod house;
mod json;
mod mcp_client;
mod proof;
mod runner;
mod servers;
mod shell;
mod step;
mod workspace;

use std::process::ExitCode;

/// What the shell is told about arguments that make no sense (`EX_USAGE`).
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let command = match cli::parse(&args) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("xtask: {error}\n       `cargo xtask help` lists the commands");
            return ExitCode::from(USAGE);
        }
    };
    match cli::run(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nxtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
