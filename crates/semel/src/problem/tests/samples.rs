//! A problem of every kind.

use std::time::Duration;

use semel_core::{Operation, StoreTime};

use crate::problem::{ByteCount, KeyFault, ProblemKind};

pub(super) fn operation(name: &str) -> Operation {
    Operation::new(name).expect("a name of fitting length")
}

/// One of each code, in the order of the contract.
pub(super) fn one_of_each() -> [ProblemKind; 12] {
    [
        ProblemKind::LockHeld { resource: "report:daily".into() },
        ProblemKind::InProgress { retry_after: Some(Duration::from_millis(4_001)) },
        ProblemKind::KeyReused {
            operation: operation("POST /payments"),
            recorded: operation("POST /orders"),
        },
        ProblemKind::ResponseUnavailable,
        ProblemKind::InDoubt { since: StoreTime::from_micros(1_796_040_250_000_000) },
        ProblemKind::KeyInvalid { fault: KeyFault::TooLong { max_chars: 255 } },
        ProblemKind::KeyMissing { header: "Idempotency-Key".into() },
        ProblemKind::PayloadMismatch { differs: vec!["query".into(), "body".into()] },
        ProblemKind::KeyExpired {
            age: Duration::from_secs(300_000),
            limit: Duration::from_secs(86_400),
        },
        ProblemKind::BodyTooLarge { limit: ByteCount::new(1_048_576) },
        ProblemKind::StoreUnavailable,
        ProblemKind::StoreFull,
    ]
}

/// Those, and the forms whose texts are put together differently.
pub(super) fn every_form() -> Vec<ProblemKind> {
    let differs = |parts: &[&str]| ProblemKind::PayloadMismatch {
        differs: parts.iter().map(|&part| part.into()).collect(),
    };
    let mut all = one_of_each().to_vec();
    all.extend(KeyFault::ALL.map(|fault| ProblemKind::KeyInvalid { fault }));
    all.push(ProblemKind::InProgress { retry_after: None });
    all.extend([differs(&[]), differs(&["body"]), differs(&["$.amount"])]);
    let parts = ["method", "path", "query", "content-type", "content-encoding", "body"];
    all.push(differs(&parts));
    all
}
