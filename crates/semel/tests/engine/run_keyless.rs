//! The function form without a key, and without an operation.

use std::sync::Arc;

use semel::core::StoreOp;
use semel::{
    BindOperation, CallError, CallStatus, Code, Guarantee, InDoubtPolicy, MissingKey, Once,
    Operation, Permit, Policy, ProblemKind, Protection, StoreDown,
};

use super::run::refused;
use super::support::{faulty, planned, policy, trips};

fn optional() -> Arc<Policy> {
    policy(|policy| policy.missing_key(MissingKey::Optional))
}

#[tokio::test(start_paused = true)]
async fn a_missing_key_is_refused_unless_it_is_optional() {
    let (store, once) = faulty();
    let problem = refused(once.call_opt(None).run(async |_| Ok::<u8, ()>(1)).await);
    assert_eq!(problem.code(), Code::KeyMissing);
    let optional = || once.call_opt(None).policy(optional());
    let mut derived = Vec::new();
    for _ in 0..3 {
        let work = async |permit: Permit| {
            assert_eq!(permit.protection(), Protection::NoKey);
            assert_eq!((permit.fence().get(), permit.attempt()), (0, 1));
            Ok::<_, ()>((permit.derive("psp"), permit.derive("mail")))
        };
        let (psp, mail) = optional().operation("charge").run(work).await.unwrap();
        derived.extend([psp, mail]);
    }
    // What they call must not take one of them for another.
    derived.sort();
    derived.dedup();
    assert_eq!(derived.len(), 6);
    // It fails as it fails; bytes and errors that stand are nothing special.
    let failed = optional().run_bytes(async |_| Err("declined")).await;
    assert!(matches!(failed, Err(CallError::Work("declined"))));
    assert_eq!(trips(&store), (0, 0));
}

/// What is not missing is a key, or none that can be.
#[tokio::test(start_paused = true)]
async fn an_optional_key_that_is_there_protects_and_an_empty_one_is_refused() {
    let (_, once) = faulty();
    for _ in 0..2 {
        let call = once.call_opt(Some("k")).policy(optional());
        let work = async |permit: Permit| Ok::<_, ()>(permit.protection() == Protection::Claimed);
        assert!(call.run(work).await.unwrap());
    }
    let CallStatus::Done(true) = once.call("k").peek().await.unwrap() else { panic!() };
    for empty in ["", " "] {
        let call = once.call_opt(Some(empty)).policy(optional());
        assert_eq!(refused(call.run(async |_| Ok::<u8, ()>(1)).await).code(), Code::KeyInvalid);
    }
}

/// A permit says by what its work is protected.
#[tokio::test(start_paused = true)]
async fn work_that_runs_because_the_store_is_down_is_told() {
    let down = |call: &semel::core::FaultCall<'_>| match call.op {
        StoreOp::Swap => {
            semel::core::FaultAction::FailBefore(semel::core::StoreErrorKind::NotApplied)
        }
        _ => semel::core::FaultAction::Pass,
    };
    let (_, once) = planned(down);
    let open = policy(|policy| policy.store_down(StoreDown::Open));
    let work = async |permit: Permit| Ok::<_, ()>(permit.protection() == Protection::StoreDown);
    assert!(once.call("k").policy(open).run(work).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn who_only_looks_needs_a_key_too() {
    let (_, once) = faulty();
    assert_eq!(refused(once.call_opt(None).peek::<u8>().await).code(), Code::KeyMissing);
    assert_eq!(refused(once.call_opt(None).attach::<u8>().await).code(), Code::KeyMissing);
    let nothing = once.call_opt(None).policy(optional()).peek::<u8>().await;
    assert_eq!(nothing.unwrap(), CallStatus::Absent);
    let bundle = policy(|policy| {
        let transactional = policy.guarantee(Guarantee::Transactional);
        transactional.missing_key(MissingKey::Optional).in_doubt(InDoubtPolicy::Reject)
    });
    let refused = once.call_opt(None).policy(bundle).run(async |_| Ok::<u8, ()>(1)).await;
    assert!(matches!(refused, Err(CallError::NoTransaction)), "{refused:?}");
}

async fn called(once: &Once, operation: Option<&str>) -> Result<u8, CallError<()>> {
    let call = once.call("k");
    let call = match operation {
        Some(name) => call.operation(name),
        None => call,
    };
    call.run(async |_| Ok(1)).await
}

/// A call without an operation is bound to none, and to no name that an operation can have: one
/// named `call` used to be the same.
#[tokio::test(start_paused = true)]
async fn a_call_without_an_operation_and_one_with_are_refused_to_each_other() {
    for named in ["call", "charge", "%2D", " -"] {
        for (first, second) in [(None, Some(named)), (Some(named), None)] {
            let (_, once) = faulty();
            called(&once, first).await.unwrap();
            let problem = refused(called(&once, second).await);
            let ProblemKind::KeyReused { operation, recorded } = problem.kind() else {
                panic!("{problem}")
            };
            assert_eq!(recorded.is_unnamed(), first.is_none());
            assert_eq!(operation.is_unnamed(), second.is_none());
            assert!(problem.to_string().contains("a call without an operation"), "{problem}");
            assert_eq!(called(&once, first).await.unwrap(), 1);
        }
    }
    let (_, once) = faulty();
    let result = called(&once, Some("-")).await;
    assert!(matches!(result, Err(CallError::Operation(_))), "{result:?}");
    assert!(Operation::unnamed().is_unnamed());
}

/// Where each operation has its own keys, they don't meet.
#[tokio::test(start_paused = true)]
async fn separate_operations_and_none_have_keys_of_their_own() {
    let (_, once) = faulty();
    let separate = policy(|policy| policy.bind_operation(BindOperation::Separate));
    let call = || once.call("k").policy(Arc::clone(&separate));
    assert_eq!(call().run(async |_| Ok::<_, ()>(1_u8)).await.unwrap(), 1);
    assert_eq!(call().operation("charge").run(async |_| Ok::<_, ()>(2_u8)).await.unwrap(), 2);
    assert_eq!(call().run(async |_| Ok::<_, ()>(3_u8)).await.unwrap(), 1);
    assert_eq!(call().operation("charge").run(async |_| Ok::<_, ()>(3_u8)).await.unwrap(), 2);
}
