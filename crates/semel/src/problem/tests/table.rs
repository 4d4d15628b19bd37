//! Every row of the contract's table of codes, written out a second time.

use std::collections::HashSet;
use std::time::Duration;

use super::samples::one_of_each;
use crate::problem::{Code, ErrorStatus, GrpcStatus, ParamValue, Problem, ProblemKind, SameKey};

/// Code, HTTP, gRPC, message key, same key, parameters.
type Row = (&'static str, u16, &'static str, &'static str, bool, &'static [&'static str]);

#[rustfmt::skip]
const CONTRACT: [Row; 12] = [
    ("CACHING_CONFLICT_001", 409, "ABORTED", "caching.lock.held", true, &["resource"]),
    ("CACHING_CONFLICT_002", 409, "ABORTED", "caching.idempotency.in_progress", true, &["retryAfter"]),
    ("CACHING_CONFLICT_003", 409, "FAILED_PRECONDITION", "caching.idempotency.key_reused", false, &["operation", "recorded"]),
    ("CACHING_CONFLICT_003", 409, "FAILED_PRECONDITION", "caching.idempotency.response_unavailable", false, &[]),
    ("CACHING_CONFLICT_004", 409, "ABORTED", "caching.idempotency.in_doubt", false, &["since"]),
    ("CACHING_VALIDATION_001", 400, "INVALID_ARGUMENT", "caching.key.invalid", false, &["reason"]),
    ("CACHING_VALIDATION_002", 400, "INVALID_ARGUMENT", "caching.idempotency.key_missing", false, &["header"]),
    ("CACHING_VALIDATION_003", 422, "INVALID_ARGUMENT", "caching.idempotency.payload_mismatch", false, &["differs"]),
    ("CACHING_VALIDATION_004", 400, "INVALID_ARGUMENT", "caching.idempotency.key_expired", false, &["age", "limit"]),
    ("CACHING_VALIDATION_005", 413, "RESOURCE_EXHAUSTED", "caching.idempotency.body_too_large", false, &["limit"]),
    ("CACHING_UNAVAILABLE_001", 503, "UNAVAILABLE", "caching.store.unavailable", true, &[]),
    ("CACHING_UNAVAILABLE_002", 503, "RESOURCE_EXHAUSTED", "caching.store.full", true, &[]),
];

#[test]
fn every_row_is_as_in_the_contract() {
    for (kind, (code, status, grpc, message_key, same_key, params)) in
        one_of_each().into_iter().zip(CONTRACT)
    {
        let problem = Problem::from(kind);
        assert_eq!(problem.code().code(), code);
        assert_eq!(problem.type_uri(), format!("urn:semel:problem:{code}"));
        assert_eq!(problem.status().as_u16(), status, "{code}");
        assert_eq!(problem.grpc().name(), grpc, "{code}");
        assert_eq!(problem.message_key(), message_key);
        assert_eq!(problem.same_key().as_bool(), same_key, "{message_key}");
        let names: Vec<&str> = problem.params().iter().map(|param| param.name).collect();
        assert_eq!(names, params, "{message_key}");
    }
}

#[test]
fn the_list_of_codes_is_whole_and_in_the_order_of_the_contract() {
    let keys: Vec<&str> = Code::ALL.iter().map(|code| code.message_key()).collect();
    let expected: Vec<&str> = CONTRACT.iter().map(|row| row.3).collect();
    assert_eq!(keys, expected);
    let kinds: Vec<Code> = one_of_each().iter().map(ProblemKind::code).collect();
    assert_eq!(kinds, Code::ALL);
}

#[test]
fn message_keys_tell_all_rows_apart() {
    let keys: HashSet<&str> = Code::ALL.iter().map(|code| code.message_key()).collect();
    assert_eq!(keys.len(), Code::ALL.len());
}

#[test]
fn grpc_numbers_are_those_of_the_protocol() {
    let numbers = [
        (GrpcStatus::Aborted, 10),
        (GrpcStatus::FailedPrecondition, 9),
        (GrpcStatus::InvalidArgument, 3),
        (GrpcStatus::ResourceExhausted, 8),
        (GrpcStatus::Unavailable, 14),
    ];
    for (status, number) in numbers {
        assert_eq!(status.number(), number, "{status}");
    }
}

#[test]
fn values_of_parameters_are_in_the_units_of_the_contract() {
    let value = |index: usize, name: &str| {
        let params = Problem::new(one_of_each()[index].clone()).params();
        params.into_iter().find(|param| param.name == name).map(|param| param.value)
    };
    let text = |text: &str| Some(ParamValue::Text(text.into()));
    assert_eq!(value(0, "resource"), text("report:daily"));
    assert_eq!(value(1, "retryAfter"), Some(ParamValue::Number(5)));
    assert_eq!(value(2, "operation"), text("POST /payments"));
    assert_eq!(value(2, "recorded"), text("POST /orders"));
    assert_eq!(value(4, "since"), text("2026-11-30T12:04:10Z"));
    assert_eq!(value(5, "reason"), text("too-long"));
    assert_eq!(value(6, "header"), text("Idempotency-Key"));
    let parts = vec!["query".into(), "body".into()];
    assert_eq!(value(7, "differs"), Some(ParamValue::List(parts)));
    assert_eq!(value(8, "age"), Some(ParamValue::Number(300_000)));
    assert_eq!(value(8, "limit"), Some(ParamValue::Number(86_400)));
    assert_eq!(value(9, "limit"), Some(ParamValue::Number(1_048_576)));
}

#[test]
fn a_preset_may_change_the_http_status_and_nothing_else() {
    let kind = ProblemKind::PayloadMismatch { differs: vec!["body".into()] };
    let plain = Problem::new(kind.clone());
    let other = Problem::new(kind).with_status(ErrorStatus::BAD_REQUEST);
    assert_eq!(other.status().as_u16(), 400);
    assert_eq!(other.code(), plain.code());
    assert_eq!(other.grpc(), plain.grpc());
    assert_eq!(other.params(), plain.params());
}

#[test]
fn a_status_that_is_no_error_cannot_be_made() {
    for number in [0, 100, 200, 204, 304, 399, 600, u16::MAX] {
        assert_eq!(ErrorStatus::new(number), None, "{number}");
    }
    assert_eq!(ErrorStatus::new(422), Some(ErrorStatus::UNPROCESSABLE_CONTENT));
    assert_eq!(ErrorStatus::new(599).map(ErrorStatus::as_u16), Some(599));
}

#[test]
fn retry_after_is_rounded_up_to_whole_seconds() {
    let after = |retry_after| Problem::new(ProblemKind::InProgress { retry_after }).retry_after();
    assert_eq!(after(None), None);
    assert_eq!(after(Some(Duration::ZERO)), Some(Duration::ZERO));
    assert_eq!(after(Some(Duration::from_nanos(1))), Some(Duration::from_secs(1)));
    assert_eq!(after(Some(Duration::from_secs(5))), Some(Duration::from_secs(5)));
    assert_eq!(after(Some(Duration::MAX)), Some(Duration::from_secs(u64::MAX)));
    assert_eq!(Problem::new(ProblemKind::StoreFull).retry_after(), None);
    assert_eq!(Problem::new(ProblemKind::StoreFull).same_key(), SameKey::Yes);
}
