//! `semel key show`.

use http::StatusCode;
use semel::core::Extent;
use semel::core::protocol::{Seen, Status};
use semel::{Form as Kept, Key};
use semel_http::status_of;
use serde_json::{Value, json};

use super::look::Looked;
use super::no_such;
use crate::exit::Stop;
use crate::output::{self, Form, Paint, Span, Tone, clock_time, safe};

pub(super) fn run(key: &Key, seen: &Seen, form: Form) -> Result<(), Stop> {
    let looked = Looked::of(seen).ok_or_else(|| no_such(key))?;
    output::data(&match form {
        Form::Text => text(key, &looked, Paint::of_stdout()),
        Form::Json => json(key.as_str(), &looked).to_string(),
    });
    Ok(())
}

fn text(key: &Key, looked: &Looked, paint: Paint) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: &str| lines.push(format!("{name:<10} {value}"));
    let status = looked.status();
    line("key", &safe(key.as_str()));
    line("state", &paint.paint(tone(&status), &state(looked, &status)));
    line("operation", &safe(looked.operation()));
    if let Some(owner) = looked.owner() {
        line("owner", &safe(owner));
    }
    if looked.there.record.claim.attempt > 1 {
        line("attempt", &looked.there.record.claim.attempt.to_string());
    }
    let kept = clock_time(looked.forgotten_at());
    let when = clock_time(looked.there.last_written());
    match status {
        Status::Done(_) => line("finished", &format!("{when} (kept until {kept})")),
        Status::InFlight { .. } => line("renewed", &format!("{when} ({} ago)", Span(looked.age()))),
        _ => {
            line("last heard", &format!("{when} ({} ago)", Span(looked.age())));
            line("resolve", "`semel key resolve KEY --done CODE`, or `--free` to let it run");
        }
    }
    lines.join("\n")
}

pub(super) fn tone(status: &Status) -> Tone {
    match status {
        Status::Done(_) => Tone::Good,
        Status::InDoubt { .. } => Tone::Bad,
        _ => Tone::Doubtful,
    }
}

/// The state in some words.
pub(super) fn state(looked: &Looked, status: &Status) -> String {
    match status {
        Status::Absent => "free".to_owned(),
        Status::InFlight { lease_left } => {
            format!("in flight, lease ends in {}", Span(lease_left.as_duration()))
        }
        Status::InDoubt { .. } => "in doubt".to_owned(),
        Status::Done(outcome) => match looked.run(outcome) {
            Some(run) => match run.bytes() {
                Some(bytes) => format!("done, exit code {}, {bytes} bytes printed", run.code),
                None => format!("done, exit code {}, what it printed was not kept", run.code),
            },
            None => {
                let part = if outcome.extent == Extent::Partial { ", not kept whole" } else { "" };
                let what = status_of(outcome).map_or_else(|| kind(outcome.form).to_owned(), answer);
                format!("done, {what}{part}")
            }
        },
    }
}

/// As the first line of an HTTP answer has it.
fn answer(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn kind(form: Kept) -> &'static str {
    match form {
        Kept::Value => "a value",
        Kept::Error => "an error",
        Kept::Http => "an HTTP response",
        Kept::Grpc => "a gRPC reply",
        _ => "an answer",
    }
}

/// For programs: times in RFC 3339, durations in milliseconds.
pub(super) fn json(key: &str, looked: &Looked) -> Value {
    let status = looked.status();
    let (state, lease) = match &status {
        Status::Absent => ("free", None),
        Status::InFlight { lease_left } => ("in_flight", Some(lease_left.as_micros() / 1_000)),
        Status::InDoubt { .. } => ("in_doubt", None),
        Status::Done(_) => ("done", None),
    };
    let outcome = if let Status::Done(outcome) = &status { Some(outcome) } else { None };
    let run = outcome.and_then(|outcome| looked.run(outcome));
    let http_status = outcome.and_then(status_of).map(|status| status.as_u16());
    json!({
        "key": key,
        "state": state,
        "operation": looked.operation(),
        "owner": looked.owner(),
        "attempt": looked.there.record.claim.attempt,
        "version": looked.there.version.get(),
        "written": semel::rfc3339(looked.there.last_written()),
        "kept_until": semel::rfc3339(looked.forgotten_at()),
        "lease_left_ms": lease,
        "http_status": http_status,
        "exit_code": run.as_ref().map(|run| run.code),
        "printed_bytes": run.and_then(|run| run.bytes()),
    })
}
