//! Calls that a test begins and ends by hand.

use semel::{Begun, Call, Claim, Extent, Form, Once, Operation, Outcome, Problem, Scope};

/// A call under this key, for nobody in particular.
pub(crate) fn call(once: &Once, key: &str) -> Call {
    let operation = Operation::new("charge").unwrap();
    Call::new(&once.default_policy(), &Scope::anonymous(), key, operation).unwrap()
}

/// The claim of a call that must be the one to run.
pub(crate) async fn fresh(once: &Once, call: &Call) -> Claim {
    match once.begin(call).await {
        Begun::Fresh(claim) => claim,
        other => panic!("it should run: {other:?}"),
    }
}

/// The problem of a call that must not run.
pub(crate) async fn refused(once: &Once, call: &Call) -> Problem {
    match once.begin(call).await {
        Begun::Refused(problem) => problem,
        other => panic!("it should be refused: {other:?}"),
    }
}

/// An outcome of these bytes.
pub(crate) fn bytes(payload: &'static str) -> Outcome {
    Outcome { form: Form::Bytes, extent: Extent::Whole, payload: payload.into() }
}
