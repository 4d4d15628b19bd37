//! Where text goes: data to stdout, prose to stderr.
//!
//! A closed pipe at the other end is no reason to stop serving, so failures to
//! write are dropped here and nowhere else.

use std::io::Write;

use tracing_subscriber::EnvFilter;

/// What is logged unless `RUST_LOG` says otherwise.
const LOGGED: &str = "warn,semel=info";

/// One line of data, flushed: a program may be waiting for it.
pub(crate) fn data(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Text for a person.
pub(crate) fn prose(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Sends the program's log to stderr.
pub(crate) fn log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LOGGED));
    // Fails only where a log is already set up, and then there is one.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .try_init();
}
