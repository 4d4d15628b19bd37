//! What the tests share.

pub(crate) mod around;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod stopwatch;
pub(crate) mod stores;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use semel::core::{Fault, FaultAction, FaultCall, Gate, StoreOp};
use semel::timer::{SystemClock, sleep};
use semel::{
    Begun, Call, Claim, Extent, Finished, Form, InFlight, MemoryStore, Once, Operation, Outcome,
    Policy, PolicyBuilder, Scope, Store,
};

pub(crate) const LEASE: Duration = Duration::from_secs(60);

pub(crate) type Faulty = Fault<MemoryStore>;

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn memory() -> MemoryStore {
    MemoryStore::new(SystemClock::new())
}

/// An engine over a store that counts its calls and fails on demand.
pub(crate) fn faulty() -> (Faulty, Once) {
    over(Fault::new(memory()))
}

/// The same with a plan.
pub(crate) fn planned(
    plan: impl Fn(&FaultCall<'_>) -> FaultAction + Send + Sync + 'static,
) -> (Faulty, Once) {
    over(Fault::with_plan(memory(), plan))
}

fn over(store: Faulty) -> (Faulty, Once) {
    let once = Once::new(Arc::new(store.clone()));
    (store, once)
}

/// How many swaps and reads there were.
pub(crate) fn trips(store: &Faulty) -> (u64, u64) {
    (store.calls(StoreOp::Swap), store.calls(StoreOp::Read))
}

pub(crate) fn policy(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Arc<Policy> {
    Arc::new(change(Policy::builder()).build().unwrap())
}

/// Answers at once that a call is in flight.
pub(crate) fn impatient() -> Arc<Policy> {
    policy(|policy| policy.in_flight(InFlight::Reject))
}

pub(crate) fn patient(budget: Duration) -> Arc<Policy> {
    policy(|policy| policy.in_flight(InFlight::Wait(budget)))
}

pub(crate) fn operation(name: &str) -> Operation {
    Operation::new(name).unwrap()
}

pub(crate) fn call(policy: &Arc<Policy>, key: &str) -> Call {
    Call::new(policy, &Scope::anonymous(), key, operation("charge")).unwrap()
}

/// Begins a call that must be fresh.
pub(crate) async fn fresh(once: &Once, call: &Call) -> Claim {
    match once.begin(call).await {
        Begun::Fresh(claim) => claim,
        other => panic!("not fresh: {other:?}"),
    }
}

pub(crate) fn bytes(payload: &[u8]) -> Outcome {
    Outcome { form: Form::Bytes, extent: Extent::Whole, payload: Bytes::copy_from_slice(payload) }
}

pub(crate) fn part(payload: &[u8]) -> Outcome {
    Outcome { extent: Extent::Partial, ..bytes(payload) }
}

pub(crate) async fn recorded(claim: &mut Claim, outcome: Outcome) {
    let finished = claim.record(outcome).await;
    assert!(matches!(finished, Finished::Recorded), "{finished:?}");
}

/// What a call replays.
pub(crate) async fn replayed(once: &Once, call: &Call) -> Vec<u8> {
    match once.begin(call).await {
        Begun::Replay(replay) => replay.outcome.payload.to_vec(),
        other => panic!("no replay: {other:?}"),
    }
}

pub(crate) fn dyn_store(store: impl Store) -> Arc<dyn Store> {
    Arc::new(store)
}

/// Polls a future so many times, a millisecond apart, and drops it; its output if it ended.
pub(crate) async fn polled<F: Future>(times: usize, future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    for _ in 0..times {
        if let Some(output) = polled_once(&mut future).await {
            return Some(output);
        }
        // Whatever it waits for goes on.
        sleep(millis(1)).await;
    }
    None
}

async fn polled_once<F: Future>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    std::future::poll_fn(|cx| {
        std::task::Poll::Ready(match future.as_mut().poll(cx) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

/// Waits until a condition holds, in paused time: ten minutes at most.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if condition() {
            return;
        }
        sleep(millis(10)).await;
    }
    panic!("never so: {what}");
}

/// A gate that opens after a while.
pub(crate) fn gate_for(time: Duration) -> Gate {
    let gate = Gate::closed();
    let opens = gate.clone();
    tokio::spawn(async move {
        sleep(time).await;
        opens.open();
    });
    gate
}
