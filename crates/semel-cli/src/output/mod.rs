//! Where text goes: data to stdout, prose to stderr.
//!
//! A closed pipe at the other end is no reason to stop serving, so failures to
//! write are dropped here and nowhere else.

mod paint;
mod safe;
mod table;
mod time;

pub(crate) use paint::{Paint, Tone};
pub(crate) use safe::safe;
pub(crate) use table::Table;
pub(crate) use time::{Span, clock_time, day_time};

use std::io::Write;

use tracing_subscriber::EnvFilter;

/// What is logged unless `RUST_LOG` says otherwise.
const LOGGED: &str = "warn,semel=info";

/// Who reads the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A person.
    Text,
    /// A program.
    Json,
}

impl Form {
    /// As the flag `--json` says.
    pub(crate) const fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// One line of data, flushed: a program may be waiting for it.
pub(crate) fn data(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Text for a person.
pub(crate) fn prose(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Bytes as they are, to stdout.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Bytes as they are, to stderr: what a command once printed there.
pub(crate) fn error_bytes(bytes: &[u8]) {
    let _ = std::io::stderr().lock().write_all(bytes);
}

/// What kind of program logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Log {
    /// One that serves: its log is read later, so it has the time.
    Service,
    /// One that somebody started and waits for: its own messages say what matters.
    Command,
}

/// Sends the program's log to stderr.
pub(crate) fn log(kind: Log) {
    let told = std::env::var_os(EnvFilter::DEFAULT_ENV).is_some();
    if kind == Log::Command && !told {
        // Each start would pay for what hardly any has a use for.
        return;
    }
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LOGGED));
    // Fails only where a log is already set up, and then there is one.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .try_init();
}
