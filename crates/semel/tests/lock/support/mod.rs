//! What the tests share.

#[path = "../../engine/support/around.rs"]
pub(crate) mod around;
#[path = "../../engine/support/stopwatch.rs"]
pub(crate) mod stopwatch;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use semel::core::{Fault, Key, Next, Store, StoreOp, Touch};
use semel::timer::{SystemClock, sleep};
use semel::{
    AcquiredWithin, LockBuilder, LockGuard, Locks, MemoryStore, Owner, ReleaseOutcome, TryAcquired,
};

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

/// Locks over a store that counts its calls and fails on demand.
pub(crate) fn faulty() -> (Faulty, Locks) {
    let store = Fault::new(memory());
    let locks = over(&store, "ours");
    (store, locks)
}

/// An engine as another process would have one.
pub(crate) fn over<S: Store + Clone>(store: &S, owner: &str) -> Locks {
    Locks::with_owner(Arc::new(store.clone()), Owner::new(owner))
}

/// Two processes over one store.
pub(crate) fn two() -> (Faulty, Locks, Locks) {
    let (store, ours) = faulty();
    let theirs = over(&store, "theirs");
    (store, ours, theirs)
}

/// How many swaps and reads there were.
pub(crate) fn trips(store: &Faulty) -> (u64, u64) {
    (store.calls(StoreOp::Swap), store.calls(StoreOp::Read))
}

pub(crate) async fn acquired(lock: &LockBuilder) -> LockGuard {
    match lock.try_acquire().await.unwrap() {
        TryAcquired::Acquired(guard) => guard,
        TryAcquired::Held(by) => panic!("held: {by}"),
    }
}

pub(crate) async fn is_held(lock: &LockBuilder) -> bool {
    match lock.try_acquire().await.unwrap() {
        TryAcquired::Acquired(guard) => {
            released(&guard).await;
            false
        }
        TryAcquired::Held(_) => true,
    }
}

pub(crate) async fn released(guard: &LockGuard) {
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Released);
}

pub(crate) async fn waited(lock: &LockBuilder, budget: Duration) -> LockGuard {
    match lock.acquire_within(budget).await.unwrap() {
        AcquiredWithin::Acquired(guard) => guard,
        AcquiredWithin::TimedOut(by) => panic!("timed out: {by}"),
    }
}

/// Removes the entry of a lock, as somebody with access to the store might.
pub(crate) async fn deleted(store: &impl Store, resource: &str) {
    let key = Key::lock(resource).unwrap();
    let there = store.read(&key, Touch::No).await.unwrap().entry.unwrap();
    let expect = semel::core::Expect::Version(there.version);
    let swap = store.swap(&key, expect, Next::Delete).await.unwrap();
    assert!(matches!(swap, semel::core::Swap::Won(_)));
}

/// Polls a future so many times, a millisecond apart, and drops it; its output if it ended.
pub(crate) async fn polled<F: Future>(times: usize, future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    for _ in 0..times {
        let polled = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(match future.as_mut().poll(cx) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        });
        if let Some(output) = polled.await {
            return Some(output);
        }
        // Whatever it waits for goes on.
        sleep(millis(1)).await;
    }
    None
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
