//! `semel lock show`.

use std::borrow::Cow;

use semel::core::Owner;
use semel::core::protocol::lock::{HolderStatus, LockStatus, StageStatus, WaiterStatus};
use semel::{LockError, Locks};
use serde_json::{Value, json};

use super::no_such;
use crate::exit::Stop;
use crate::output::{self, Form, Paint, Span, Tone, clock_time, safe};

pub(super) async fn run(
    locks: &Locks,
    resource: &str,
    form: Form,
    failed: impl Fn(LockError) -> Stop,
) -> Result<(), Stop> {
    let status = locks.inspect(resource).await.map_err(failed)?;
    let status = status.ok_or_else(|| no_such(resource))?;
    output::data(&match form {
        Form::Text => text(resource, &status, Paint::of_stdout()),
        Form::Json => json(resource, &status).to_string(),
    });
    Ok(())
}

fn text(resource: &str, status: &LockStatus, paint: Paint) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: &str| lines.push(format!("{name:<10} {value}"));
    line("lock", &safe(resource));
    line("kind", &status.kind.to_string());
    for holder in &status.holders {
        let tone = if holder.stage == StageStatus::Held { Tone::Good } else { Tone::Doubtful };
        line("holder", &name(holder.owner.as_ref()));
        line("  state", &paint.paint(tone, &stage(holder)));
        if let Some(since) = holder.since {
            let age = Span(status.now.since(since));
            line("  since", &format!("{} ({age} ago)", clock_time(since)));
        }
        line(
            "  free",
            &format!("in at most {} unless it is renewed", Span(holder.left.as_duration())),
        );
        if let Some(fence) = holder.fence {
            line("  fence", &fence.to_string());
        }
    }
    for waiter in &status.queue {
        let age = Span(status.now.since(waiter.since));
        line("waits", &format!("{}, for {age}", name(waiter.owner.as_ref())));
    }
    lines.join("\n")
}

fn name(owner: Option<&Owner>) -> Cow<'_, str> {
    safe(owner.map_or("somebody", Owner::as_str))
}

/// How far a holder is, in some words.
pub(super) fn stage(holder: &HolderStatus) -> String {
    match &holder.stage {
        StageStatus::Held => "held".to_owned(),
        StageStatus::Delayed => "its lease ended; the delay after that has not".to_owned(),
        StageStatus::Revoked { by, reason } => {
            format!("told to stop by {}: {}", safe(by.as_str()), safe(reason.as_str()))
        }
        StageStatus::Resting => "released; its least time of holding has not ended".to_owned(),
        _ => "in a state that this version does not know".to_owned(),
    }
}

const fn stage_word(stage: &StageStatus) -> &'static str {
    match stage {
        StageStatus::Held => "held",
        StageStatus::Delayed => "delayed",
        StageStatus::Revoked { .. } => "revoked",
        StageStatus::Resting => "resting",
        _ => "unknown",
    }
}

/// For programs: times in RFC 3339, durations in milliseconds. No token is ever told.
pub(super) fn json(resource: &str, status: &LockStatus) -> Value {
    json!({
        "resource": resource,
        "kind": status.kind.to_string(),
        "holders": status.holders.iter().map(holder).collect::<Vec<_>>(),
        "queue": status.queue.iter().map(waiter).collect::<Vec<_>>(),
        "now": semel::rfc3339(status.now),
    })
}

fn holder(holder: &HolderStatus) -> Value {
    let (by, reason) = match &holder.stage {
        StageStatus::Revoked { by, reason } => (Some(by.as_str()), Some(reason.as_str())),
        _ => (None, None),
    };
    json!({
        "owner": holder.owner.as_ref().map(Owner::as_str),
        "state": stage_word(&holder.stage),
        "fence": holder.fence.map(semel::core::Fence::get),
        "since": holder.since.map(semel::rfc3339),
        "until": holder.until.map(semel::rfc3339),
        "left_ms": holder.left.as_micros() / 1_000,
        "revoked_by": by,
        "revoked_for": reason,
    })
}

fn waiter(waiter: &WaiterStatus) -> Value {
    json!({
        "owner": waiter.owner.as_ref().map(Owner::as_str),
        "since": semel::rfc3339(waiter.since),
    })
}
