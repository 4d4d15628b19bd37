//! Which problems a layer can answer with, and how each of them reads.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Method;
use semel::core::StoreTime;
use semel::{
    BindOperation, ByteCount, Code, DetectExpired, InDoubtPolicy, KeyFault, Language, MissingKey,
    Operation, Problem, ProblemKind, RetryAfter,
};
use serde_json::Value;

use crate::door::Door;
use crate::fingerprint::Fingerprint;
use crate::key::KeySource;
use crate::problem;

/// The codes that this layer can answer with, by their status.
pub(super) fn by_status(door: &Door) -> BTreeMap<u16, Vec<Code>> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in Code::ALL.into_iter().filter(|code| is_possible(door, *code)) {
        by_status.entry(status(door, code)).or_default().push(code);
    }
    by_status
}

fn status(door: &Door, code: Code) -> u16 {
    door.settings.status_of(code).unwrap_or(code.status()).as_u16()
}

fn is_possible(door: &Door, code: Code) -> bool {
    let policy = &door.policy;
    match code {
        Code::LockHeld => false,
        Code::KeyMissing => policy.missing_key() == MissingKey::Require,
        Code::KeyExpired => policy.detect_expired() == DetectExpired::On,
        Code::PayloadMismatch => !matches!(door.settings.fingerprint, Fingerprint::Off),
        Code::InDoubt => {
            let is_rerun = matches!(policy.in_doubt(), InDoubtPolicy::Rerun);
            !is_rerun && !policy.guarantee().needs_transaction()
        }
        // A key may have been used through another door, also where operations have keys of their
        // own. A record that was settled by hand, or by a newer version, is beyond reading everywhere.
        _ => true,
    }
}

/// Whether answers with these codes may carry `Retry-After`.
pub(super) fn may_say_when(door: &Door, codes: &[Code]) -> bool {
    codes.contains(&Code::InProgress) && door.policy.retry_after() != RetryAfter::Off
}

/// A problem of this code, made as a real one is.
pub(super) fn example(door: &Door, method: &Method, path: &str, code: Code) -> Option<Value> {
    let problem = Problem::new(kind(door, method, path, code)?);
    let problem = match door.settings.status_of(code) {
        Some(status) => problem.with_status(status),
        None => problem,
    };
    serde_json::from_slice(&problem::problem_document(&problem, Language::English)).ok()
}

fn kind(door: &Door, method: &Method, path: &str, code: Code) -> Option<ProblemKind> {
    let operation = match &door.operation {
        Some(operation) => operation.clone(),
        None => Operation::new(format!("{method} {path}").as_str()).ok()?,
    };
    Some(match code {
        Code::InProgress => ProblemKind::InProgress {
            retry_after: match door.policy.retry_after() {
                RetryAfter::AtMost(after) => Some(after),
                RetryAfter::Off => None,
            },
        },
        Code::KeyReused => ProblemKind::KeyReused {
            recorded: match door.policy.bind_operation() {
                BindOperation::Separate => {
                    Operation::new(format!("{operation} (through another door)")).ok()?
                }
                _ => Operation::new("another.operation").ok()?,
            },
            operation,
        },
        Code::ResponseUnavailable => ProblemKind::ResponseUnavailable,
        Code::InDoubt => {
            ProblemKind::InDoubt { since: StoreTime::from_micros(1_796_040_250_000_000) }
        }
        Code::KeyInvalid => ProblemKind::KeyInvalid { fault: KeyFault::SeveralKeys },
        Code::KeyMissing => ProblemKind::KeyMissing { header: first_place(door).into() },
        Code::PayloadMismatch => ProblemKind::PayloadMismatch { differs: vec!["body".into()] },
        Code::KeyExpired => {
            let limit = door.policy.time_to_live();
            ProblemKind::KeyExpired { age: limit.saturating_add(Duration::from_secs(60)), limit }
        }
        Code::BodyTooLarge => ProblemKind::BodyTooLarge {
            limit: ByteCount::new(door.settings.max_request_body as u64),
        },
        Code::StoreUnavailable => ProblemKind::StoreUnavailable,
        Code::StoreFull => ProblemKind::StoreFull,
        _ => return None,
    })
}

fn first_place(door: &Door) -> String {
    door.settings.sources.places().first().map(KeySource::to_string).unwrap_or_default()
}
