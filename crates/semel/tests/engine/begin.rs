//! Beginning: what it costs, what it comes to, and in which order it is refused.

use std::collections::HashSet;

use semel::core::FaultAction;
use semel::core::{StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{
    Begun, BindOperation, Busy, Call, Code, Fingerprint, InDoubtPolicy, KeyFault, KeyFormat,
    KeyRule, KeyStorage, Once, PartDigest, Problem, ProblemKind, RetryAfter, Scope,
};

use super::support::{
    LEASE, bytes, call, faulty, fresh, impatient, memory, millis, operation, policy, recorded,
    replayed, secs, trips,
};

pub(crate) fn refused(begun: Begun) -> Problem {
    match begun {
        Begun::Refused(problem) => problem,
        other => panic!("not refused: {other:?}"),
    }
}

fn busy(begun: Begun) -> Busy {
    match begun {
        Begun::Busy(busy) => busy,
        other => panic!("not busy: {other:?}"),
    }
}

fn called_with(call: Call, input: &[u8]) -> Call {
    let digest = PartDigest::of(input);
    call.with_fingerprint(Fingerprint::builder().digest("input", digest).build())
}

#[tokio::test(start_paused = true)]
async fn claim_record_and_replay_cost_one_round_trip_each() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    assert_eq!(trips(&store), (1, 0), "claim");
    busy(once.begin(&call).await);
    assert_eq!(trips(&store), (2, 0), "in flight");
    recorded(&mut claim, bytes(b"answer")).await;
    assert_eq!(trips(&store), (3, 0), "record");
    assert_eq!(replayed(&once, &call).await, b"answer");
    assert_eq!(trips(&store), (4, 0), "replay");
    let other = Call::new(&impatient(), &Scope::anonymous(), "k", operation("refund")).unwrap();
    assert_eq!(refused(once.begin(&other).await).code(), Code::KeyReused);
    assert_eq!(trips(&store), (5, 0), "another operation");
    fresh(&once, &super::support::call(&impatient(), "k2")).await.release().await;
    assert_eq!(trips(&store), (7, 0), "claim and release");
    assert_eq!(store.calls(StoreOp::Changed), 0, "nobody waited");
}

/// P5, N4, C4, Y1: a dropped claim is not free, and is taken over once its lease has ended.
#[tokio::test(start_paused = true)]
async fn a_claim_whose_owner_is_gone_is_taken_over_after_its_lease_with_a_higher_fence() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let first = fresh(&once, &call).await;
    let permit = first.permit();
    drop(first);
    sleep(LEASE - millis(1)).await;
    busy(once.begin(&call).await);
    sleep(millis(1)).await;
    let before = trips(&store);
    let mut second = fresh(&once, &call).await;
    assert_eq!(trips(&store), (before.0 + 2, before.1), "a lost swap brings what to take over");
    assert_eq!((permit.attempt(), second.permit().attempt()), (1, 2));
    assert!(second.permit().fence() > permit.fence());
    assert_eq!(second.permit().derive("psp"), permit.derive("psp"), "the same call further down");
    recorded(&mut second, bytes(b"second")).await;
    assert_eq!(replayed(&once, &call).await, b"second");
}

/// The fence rises also over a release, a forgotten record and a removed entry.
#[tokio::test(start_paused = true)]
async fn every_later_claim_has_a_higher_fence() {
    let (_, once) = faulty();
    let call = call(&policy(|policy| policy.time_to_live(secs(90))), "k");
    let mut fences = Vec::new();
    for round in 0..4 {
        let mut claim = fresh(&once, &call).await;
        fences.push(claim.permit().fence());
        if round % 2 == 0 {
            claim.release().await;
        } else {
            recorded(&mut claim, bytes(b"")).await;
            sleep(secs(91)).await;
        }
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
}

#[tokio::test(start_paused = true)]
async fn where_nobody_takes_over_it_stays_in_doubt_until_it_is_forgotten() {
    let (_, once) = faulty();
    let call = call(&policy(|policy| policy.in_doubt(InDoubtPolicy::Reject)), "k");
    let claim = fresh(&once, &call).await;
    let fence = claim.permit().fence();
    drop(claim);
    for _ in 0..3 {
        sleep(LEASE).await;
        let problem = refused(once.begin(&call).await);
        let ProblemKind::InDoubt { since } = problem.kind() else { panic!("{problem:?}") };
        assert_eq!(since.as_micros(), fence.get(), "last heard of when it was claimed");
    }
    sleep(secs(86_400)).await;
    assert_eq!(fresh(&once, &call).await.permit().attempt(), 1);
}

/// Further trackers: a mismatch beats in flight. Whether held or done, the operation is checked
/// first, then the request, then how far the call is.
#[tokio::test(start_paused = true)]
async fn the_operation_is_checked_first_and_then_the_request() {
    let (_, once) = faulty();
    let (policy, scope) = (impatient(), Scope::anonymous());
    let of = |name, input: &[u8]| {
        called_with(Call::new(&policy, &scope, "k", operation(name)).unwrap(), input)
    };
    let mut claim = fresh(&once, &of("charge", b"1 EUR")).await;
    for done in [false, true] {
        let problem = refused(once.begin(&of("refund", b"2 EUR")).await);
        let (operation, recorded) = (operation("refund"), operation("charge"));
        assert_eq!(problem.kind(), &ProblemKind::KeyReused { operation, recorded });
        let problem = refused(once.begin(&of("charge", b"2 EUR")).await);
        let differs = vec!["input".into()];
        assert_eq!(problem.kind(), &ProblemKind::PayloadMismatch { differs }, "done: {done}");
        assert!(!problem.to_string().contains("EUR"));
        let repeat = once.begin(&of("charge", b"1 EUR")).await;
        if done {
            assert!(matches!(repeat, Begun::Replay(_)), "{repeat:?}");
        } else {
            busy(repeat);
            super::support::recorded(&mut claim, bytes(b"paid")).await;
        }
    }
    // P2: the fingerprint is still there after the answer was recorded. D4: nobody who was
    // refused has changed anything.
    assert_eq!(replayed(&once, &of("charge", b"1 EUR")).await, b"paid");
}

/// I5: the same request under another key is another call.
#[tokio::test(start_paused = true)]
async fn the_same_request_under_another_key_is_another_call() {
    let (_, once) = faulty();
    let calls = ["a", "b"].map(|key| called_with(call(&impatient(), key), b"1 EUR"));
    let claims = [fresh(&once, &calls[0]).await, fresh(&once, &calls[1]).await];
    assert_ne!(claims[0].permit().derive("psp"), claims[1].permit().derive("psp"));
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_fingerprint_is_taken_for_a_repeat() {
    let (_, once) = faulty();
    let plain = call(&impatient(), "k");
    let mut claim = fresh(&once, &called_with(plain.clone(), b"1")).await;
    recorded(&mut claim, bytes(b"first")).await;
    assert_eq!(replayed(&once, &plain).await, b"first");
}

#[tokio::test(start_paused = true)]
async fn separate_operations_have_keys_of_their_own() {
    let (_, once) = faulty();
    for digest in [false, true] {
        let policy = policy(|policy| {
            let policy = policy.bind_operation(BindOperation::Separate);
            if digest { policy.key_storage(KeyStorage::digest([7; 32])) } else { policy }
        });
        let of = |name| Call::new(&policy, &Scope::anonymous(), "k", operation(name)).unwrap();
        let mut claim = fresh(&once, &of("charge")).await;
        recorded(&mut claim, bytes(b"charged")).await;
        fresh(&once, &of("refund")).await.release().await;
        assert_eq!(replayed(&once, &of("charge")).await, b"charged");
    }
}

/// S-01, X1, C1: scopes never share a record, whatever their names and keys look like.
#[tokio::test(start_paused = true)]
async fn no_two_scopes_share_a_record() {
    let (_, once) = faulty();
    let scopes = [
        Scope::anonymous(),
        Scope::new("-", "-").unwrap(),
        Scope::new("acme", "alice").unwrap(),
        Scope::new("acme:alice", "x").unwrap(),
        Scope::new("acme", "alice:x").unwrap(),
        Scope::anonymous().with_tenant("acme").unwrap(),
        Scope::anonymous().with_subject("acme").unwrap(),
    ];
    let mut claims = Vec::new();
    for storage in [KeyStorage::Plain, KeyStorage::digest([1; 32]), KeyStorage::digest([2; 32])] {
        let policy = policy(|policy| policy.key_storage(storage));
        for scope in &scopes {
            for key in ["k", "x:k"] {
                let call = Call::new(&policy, scope, key, operation("o")).unwrap();
                claims.push(fresh(&once, &call).await);
            }
        }
    }
    let keys: HashSet<_> = claims.iter().map(|claim| claim.permit().key().clone()).collect();
    assert_eq!(keys.len(), claims.len());
}

#[test]
fn a_key_that_breaks_the_rule_is_refused_before_anything_else() {
    let uuids = policy(|policy| {
        policy.key_rule(KeyRule::default().with_format("uuid".parse::<KeyFormat>().unwrap()))
    });
    let cases = [
        (impatient(), "", "empty"),
        (impatient(), " ", "blank"),
        (impatient(), &*"k".repeat(256), "too-long"),
        (uuids, "order-1", "not-a-uuid"),
    ];
    for (policy, key, reason) in cases {
        let problem =
            Call::new(&policy, &Scope::anonymous(), key, operation("o")).map(drop).unwrap_err();
        let ProblemKind::KeyInvalid { fault } = problem.kind() else { panic!("{problem:?}") };
        assert_eq!(fault.reason(), reason);
        assert_eq!(problem.code(), Code::KeyInvalid);
    }
    // The key alone is short enough, but not with its scope.
    let long = Scope::new("t".repeat(200), "s".repeat(200)).unwrap();
    let problem = Call::new(&impatient(), &long, &"k".repeat(200), operation("o")).unwrap_err();
    let ProblemKind::KeyInvalid { fault: KeyFault::ComposedTooLong } = problem.kind() else {
        panic!("{problem:?}")
    };
}

/// S3: what is left of the lease, where no keeper renews it, and never more than was set.
#[tokio::test(start_paused = true)]
async fn who_is_told_to_come_back_is_told_when_that_may_help() {
    let (_, once) = faulty();
    let default = impatient();
    drop(fresh(&once, &call(&default, "k")).await);
    let after = async |policy| busy(once.begin(&call(&policy, "k")).await).retry_after;
    let silent =
        policy(|policy| policy.in_flight(semel::InFlight::Reject).retry_after(RetryAfter::Off));
    let rare = policy(|policy| {
        policy.in_flight(semel::InFlight::Reject).retry_after(RetryAfter::AtMost(secs(40)))
    });
    assert_eq!(after(default.clone()).await, Some(secs(5)));
    assert_eq!(after(rare.clone()).await, Some(secs(40)));
    assert_eq!(after(silent).await, None);
    sleep(millis(57_500)).await;
    assert_eq!(after(default.clone()).await, Some(secs(3)), "2.5 s, in whole seconds");
    assert_eq!(after(rare).await, Some(secs(3)));
    sleep(millis(2_499)).await;
    assert_eq!(after(default).await, Some(secs(1)), "never zero");
}

/// After the wait it is what is left by then, not what was left before it.
#[tokio::test(start_paused = true)]
async fn who_waited_in_vain_is_told_what_is_left_by_then() {
    let (_, once) = faulty();
    drop(fresh(&once, &call(&impatient(), "k")).await);
    sleep(secs(52)).await;
    let waits = policy(|policy| policy.in_flight(semel::InFlight::Wait(secs(5))));
    assert_eq!(busy(once.begin(&call(&waits, "k")).await).retry_after, Some(secs(3)));
}

/// I8, R2: done without an answer is an outcome of its own, and never a reason to run again.
#[tokio::test(start_paused = true)]
async fn what_was_recorded_in_part_is_replayed_in_part() {
    let (_, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    recorded(&mut claim, super::support::part(b"head")).await;
    let Begun::Replay(replay) = once.begin(&call).await else { panic!() };
    assert_eq!(replay.outcome.extent, semel::Extent::Partial);
    recorded(&mut claim, bytes(b"head and body")).await;
    assert_eq!(replayed(&once, &call).await, b"head and body");
}

/// P9: a policy belongs to a call, never to the store.
#[tokio::test(start_paused = true)]
async fn two_policies_over_one_engine_keep_apart() {
    let (_, once) = faulty();
    let short = policy(|policy| policy.in_progress_time_to_live(secs(2)));
    drop((
        fresh(&once, &call(&short, "short")).await,
        fresh(&once, &call(&impatient(), "k")).await,
    ));
    sleep(secs(2)).await;
    fresh(&once, &call(&short, "short")).await.release().await;
    busy(once.begin(&call(&impatient(), "k")).await);
}

/// S-55, X9, F-66: what can't be read as this key's record is damaged, never free, and is not run
/// even where the policy runs unprotected when the store is down.
#[tokio::test(start_paused = true)]
async fn a_damaged_or_crossed_record_is_never_taken_for_a_free_key() {
    let open = policy(|policy| policy.store_down(semel::StoreDown::Open));
    for policy in [impatient(), open] {
        let (store, once) = faulty();
        let (ours, theirs) = (call(&policy, "ours"), call(&policy, "theirs"));
        let mut claim = fresh(&once, &theirs).await;
        recorded(&mut claim, bytes(b"theirs")).await;
        let mut claim = fresh(&once, &ours).await;
        recorded(&mut claim, bytes(b"ours")).await;
        for at in 0..200 {
            store.next(StoreOp::Swap, FaultAction::Corrupt { at });
            assert_eq!(refused(once.begin(&ours).await).code(), Code::StoreUnavailable, "{at}");
        }
        store.next(StoreOp::Swap, FaultAction::Crossed(theirs.key().clone()));
        assert_eq!(refused(once.begin(&ours).await).code(), Code::StoreUnavailable);
        assert_eq!(replayed(&once, &ours).await, b"ours");
    }
}

/// F-61: the token in the record tells that the claim is ours.
#[tokio::test(start_paused = true)]
async fn a_claim_whose_reply_was_lost_is_found_to_be_ours() {
    let (store, once) = faulty();
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    assert_eq!(trips(&store), (1, 1), "settled by reading");
    assert_eq!(claim.permit().attempt(), 1);
    recorded(&mut claim, bytes(b"once")).await;
    assert_eq!(replayed(&once, &call).await, b"once");
}

#[test]
#[should_panic(expected = "there is no reactor running")]
fn outside_a_runtime_nothing_is_claimed() {
    let store = memory();
    let once = Once::new(std::sync::Arc::new(store.clone()));
    let call = call(&impatient(), "k");
    let begun = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        futures_util::FutureExt::now_or_never(once.begin(&call))
    }));
    assert_eq!(store.used_bytes(), 0, "a claim that nobody renews");
    std::panic::resume_unwind(begun.unwrap_err());
}
