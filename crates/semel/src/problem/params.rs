//! The parameters of a problem, as doors write them out.

use std::sync::Arc;
use std::time::Duration;

use super::kind::ProblemKind;
use super::moment::rfc3339;

/// A parameter's name and value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// The name, in the spelling of the contract.
    pub name: &'static str,
    /// The value.
    pub value: ParamValue,
}

/// A parameter's value. In JSON: a string, a number, an array of strings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamValue {
    /// A text. Moments are written as RFC 3339 in UTC.
    Text(Arc<str>),
    /// A number. Durations are in seconds, sizes in bytes.
    Number(u64),
    /// Several texts.
    List(Vec<Arc<str>>),
}

pub(super) fn of(kind: &ProblemKind) -> Vec<Param> {
    let text = |name, value: &Arc<str>| Param { name, value: ParamValue::Text(value.clone()) };
    let number = |name, value| Param { name, value: ParamValue::Number(value) };
    match kind {
        ProblemKind::LockHeld { resource } => vec![text("resource", resource)],
        ProblemKind::InProgress { retry_after } => {
            retry_after.map(|after| number("retryAfter", rounded_up(after))).into_iter().collect()
        }
        ProblemKind::KeyReused { operation, recorded } => {
            vec![
                text("operation", &operation.as_str().into()),
                text("recorded", &recorded.as_str().into()),
            ]
        }
        ProblemKind::InDoubt { since } => vec![text("since", &rfc3339(*since).into())],
        ProblemKind::KeyInvalid { fault } => vec![text("reason", &fault.reason().into())],
        ProblemKind::KeyMissing { header } => vec![text("header", header)],
        ProblemKind::PayloadMismatch { differs } => {
            vec![Param { name: "differs", value: ParamValue::List(differs.clone()) }]
        }
        ProblemKind::KeyExpired { age, limit } => {
            vec![number("age", age.as_secs()), number("limit", limit.as_secs())]
        }
        ProblemKind::BodyTooLarge { limit } => vec![number("limit", limit.as_u64())],
        ProblemKind::ResponseUnavailable
        | ProblemKind::StoreUnavailable
        | ProblemKind::StoreFull => Vec::new(),
    }
}

/// In whole seconds, never too few: who comes back too early only asks in vain.
pub(super) fn rounded_up(duration: Duration) -> u64 {
    let more = u64::from(duration.subsec_nanos() > 0);
    duration.as_secs().saturating_add(more)
}
