//! What the cases share.

mod child;
pub(crate) mod place;

pub(crate) use child::Child;
pub(crate) use place::Place;

use std::sync::Arc;

use semel::{CallError, Code, Policy, PolicyBuilder};

pub(crate) fn policy(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Arc<Policy> {
    Arc::new(change(Policy::builder()).build().unwrap())
}

pub(crate) fn code<T: std::fmt::Debug, E: std::fmt::Debug>(
    result: Result<T, CallError<E>>,
) -> Code {
    match result {
        Err(CallError::Refused(problem)) => problem.code(),
        other => panic!("not refused: {other:?}"),
    }
}
