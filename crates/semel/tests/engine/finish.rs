//! Finishing a call when replies are lost or the store takes no more.

use std::sync::Arc;

use semel::core::protocol::Status;
use semel::core::{Doubt, Fault, Store};
use semel::core::{FaultAction, Refusal, StoreErrorKind, StoreOp};
use semel::timer::{SystemClock, sleep};
use semel::{
    Begun, CallError, Code, Extent, Finished, GivenUp, InDoubtPolicy, MemoryLimits, MemoryStore,
    Once,
};

use super::begin::refused;
use super::support::metrics::Counted;
use super::support::stopwatch::Stopwatch;
use super::support::{
    bytes, call, faulty, fresh, gate_for, impatient, memory, millis, policy, recorded, replayed,
    secs, trips, until,
};

/// D9, F-61: the record was written, its reply lost. It is found to be ours: one record, and no
/// second execution.
#[tokio::test(start_paused = true)]
async fn d9_a_record_whose_reply_was_lost_is_found_to_be_ours() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    recorded(&mut claim, bytes(b"once")).await;
    assert_eq!(trips(&store), (2, 1), "settled by reading, not by writing again");
    let version = version(&store, &call).await;
    assert_eq!(replayed(&once, &call).await, b"once");
    assert_eq!(self::version(&store, &call).await, version);
}

async fn version(store: &impl Store, call: &semel::Call) -> semel::core::Version {
    let snapshot = store.read(call.key(), semel::core::Touch::No).await.unwrap();
    snapshot.entry.unwrap().version
}

/// The same where the read that would settle it fails, too: the background finds it.
#[tokio::test(start_paused = true)]
async fn d9_a_record_that_could_not_be_settled_at_once_is_settled_later() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    assert!(matches!(claim.record(bytes(b"once")).await, Finished::Pending));
    let version = version(&store, &call).await;
    until("the background is done", || once.tasks().is_empty()).await;
    assert_eq!(once.held(), 0);
    assert_eq!(self::version(&store, &call).await, version, "it is not written again");
    assert_eq!(replayed(&once, &call).await, b"once");
}

/// F-62, F-64: the caller has its answer after five seconds, whatever the store does.
#[tokio::test(start_paused = true)]
async fn a_record_that_hangs_goes_on_in_the_background() {
    for before in [false, true] {
        let (store, once) = faulty();
        let call = call(&impatient(), "k");
        let mut claim = fresh(&once, &call).await;
        let gate = gate_for(secs(8));
        let hold =
            if before { FaultAction::HoldBefore(gate) } else { FaultAction::HoldAfter(gate) };
        store.next(StoreOp::Swap, hold);
        let began = Stopwatch::started();
        assert!(matches!(claim.record(bytes(b"once")).await, Finished::Pending));
        assert_eq!(began.elapsed().as_secs(), 5);
        drop(claim);
        assert_eq!(once.held(), 1, "renewed until it is recorded");
        until("the background is done", || once.tasks().is_empty()).await;
        assert_eq!(once.held(), 0);
        assert_eq!(replayed(&once, &call).await, b"once");
    }
}

/// C2, F-71: what does not fit is recorded as done, and is not run again.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_is_recorded_without_its_body() {
    let limits = MemoryLimits { value_bytes: 2_000, ..MemoryLimits::default() };
    let once = Once::new(Arc::new(MemoryStore::with_limits(SystemClock::new(), limits)));
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    let finished = claim.record(bytes(&[7; 3_000])).await;
    assert!(matches!(finished, Finished::RecordedInPart), "{finished:?}");
    assert_eq!(once.held(), 0);
    let Status::Done(outcome) = once.peek(call.key()).await.unwrap() else { panic!() };
    assert_eq!((outcome.extent, outcome.payload.len()), (Extent::Partial, 0));
    // A function: its first caller has the value, a repeat is told that it was not kept.
    let large = async || once.call("f").run(async |_| Ok::<_, ()>("x".repeat(3_000))).await;
    assert_eq!(large().await.unwrap().len(), 3_000);
    let Err(CallError::Refused(problem)) = large().await else { panic!() };
    assert_eq!(problem.code(), Code::ResponseUnavailable);
}

/// A store that is full refuses new calls; those that were let in are recorded.
#[tokio::test(start_paused = true)]
async fn a_full_store_refuses_new_calls_and_records_those_it_let_in() {
    let limits = MemoryLimits { total_bytes: 40_000, value_bytes: 4_000 };
    let once = Once::new(Arc::new(MemoryStore::with_limits(SystemClock::new(), limits)));
    let mut claims = Vec::new();
    let problem = loop {
        let call = call(&impatient(), &format!("k{}", claims.len()));
        match once.begin(&call).await {
            Begun::Fresh(claim) => claims.push((call, claim)),
            begun => break refused(begun),
        }
    };
    assert_eq!(problem.code(), Code::StoreFull);
    assert!(claims.len() > 20);
    for (call, claim) in &mut claims {
        let finished = claim.record(bytes(&[1; 4_000])).await;
        let ended = matches!(finished, Finished::Recorded | Finished::RecordedInPart);
        assert!(ended, "{finished:?}");
        assert!(matches!(once.begin(call).await, Begun::Replay(_)));
    }
}

/// F-101: full for what is whole and, for a while, for less as well.
#[tokio::test(start_paused = true)]
async fn a_store_that_takes_nothing_is_asked_again() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    for _ in 0..6 {
        let full = StoreErrorKind::Refused(Refusal::Full);
        store.next(StoreOp::Swap, FaultAction::FailBefore(full));
    }
    let finished = claim.record_or(bytes(b"whole"), || part_of(b"head")).await;
    assert!(matches!(finished, Finished::Pending), "{finished:?}");
    assert_eq!(store.left(StoreOp::Swap), 3, "whole, less, nothing but that it ended");
    until("the background is done", || once.tasks().is_empty()).await;
    let Status::Done(outcome) = once.peek(call.key()).await.unwrap() else { panic!() };
    assert_eq!(outcome.extent, Extent::Partial);
}

fn part_of(payload: &[u8]) -> semel::Outcome {
    super::support::part(payload)
}

/// An unreadable entry in place of ours: nothing is overwritten, and it is said at once.
#[tokio::test(start_paused = true)]
async fn a_damaged_entry_is_not_overwritten() {
    let counted = Counted::captured();
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::Damaged));
    assert!(matches!(claim.record(bytes(b"x")).await, Finished::Unrecorded));
    assert_eq!((once.held(), once.tasks().len()), (0, 0));
    assert_eq!(counted.of("semel_records_given_up_total"), 1);
}

/// F-63, F-155: a release that may have been lost is tried again and says the truth.
#[tokio::test(start_paused = true)]
async fn a_release_whose_reply_was_lost_is_settled() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let claim = fresh(&once, &call).await;
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    assert_eq!(claim.release().await, GivenUp::AlreadyGone);
    fresh(&once, &call).await.release().await;
}

/// Not said to be free before it is; freed as soon as the store is back, also after its lease,
/// where nobody would take over.
#[tokio::test(start_paused = true)]
async fn a_release_that_the_store_does_not_take_is_tried_until_it_does() {
    let reject =
        policy(|policy| policy.in_doubt(InDoubtPolicy::Reject).in_flight(semel::InFlight::Reject));
    for (policy, fails) in [(impatient(), 5), (reject, 30)] {
        let (store, once) = faulty();
        let call = call(&policy, "k");
        let claim = fresh(&once, &call).await;
        for _ in 0..fails {
            let down = FaultAction::FailBefore(StoreErrorKind::NotApplied);
            store.next(StoreOp::Swap, down);
        }
        assert_eq!(claim.release().await, GivenUp::Pending);
        assert_eq!(once.held(), 0, "but it is renewed no more");
        until("the background is done", || once.tasks().is_empty()).await;
        assert_eq!(fresh(&once, &call).await.permit().attempt(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_doubt_that_the_store_does_not_take_is_tried_until_it_does() {
    let (store, once) = faulty();
    let call = call(&policy(|policy| policy.in_doubt(InDoubtPolicy::Reject)), "k");
    let claim = fresh(&once, &call).await;
    for _ in 0..5 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    assert_eq!(claim.doubt(Doubt::Exception).await, GivenUp::Pending);
    until("the background is done", || once.tasks().is_empty()).await;
    assert_eq!(refused(once.begin(&call).await).code(), Code::InDoubt);
}

#[tokio::test(start_paused = true)]
async fn doubt_is_settled_by_the_policy_for_it() {
    let (_, once) = faulty();
    let call = call(&impatient(), "k");
    let first = fresh(&once, &call).await;
    assert_eq!(first.doubt(Doubt::CutOff).await, GivenUp::Settled);
    let mut second = fresh(&once, &call).await;
    assert_eq!(second.permit().attempt(), 2, "at once, no lease has to end");
    recorded(&mut second, bytes(b"second")).await;
    assert_eq!(replayed(&once, &call).await, b"second");
}

/// Retention counts from when the call ended.
#[tokio::test(start_paused = true)]
async fn an_outcome_is_remembered_from_when_it_was_recorded() {
    let (_, once) = faulty();
    let call = call(&policy(|policy| policy.time_to_live(secs(100))), "k");
    let mut claim = fresh(&once, &call).await;
    sleep(secs(500)).await;
    recorded(&mut claim, bytes(b"slow")).await;
    sleep(secs(100) - millis(1)).await;
    assert_eq!(replayed(&once, &call).await, b"slow");
    sleep(millis(1)).await;
    fresh(&once, &call).await.release().await;
}

/// A swept store forgets what is over and nothing else.
#[tokio::test(start_paused = true)]
async fn sweeping_takes_nothing_that_is_remembered() {
    let store = memory();
    let once = Once::new(Arc::new(Fault::new(store.clone())));
    let call = call(&policy(|policy| policy.time_to_live(secs(100))), "k");
    let mut claim = fresh(&once, &call).await;
    for _ in 0..20 {
        sleep(secs(50)).await;
        assert_eq!(store.sweep(100).await.unwrap(), 0);
    }
    recorded(&mut claim, bytes(b"slow")).await;
    sleep(secs(99)).await;
    assert_eq!(store.sweep(100).await.unwrap(), 0);
    sleep(secs(1)).await;
    assert_eq!(store.sweep(100).await.unwrap(), 1);
}
