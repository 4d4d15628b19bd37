//! What the tests share.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use semel::core::{Fault, FaultAction, FaultCall, StoreOp};
use semel::inbox::{AttemptLimit, Consumer, Delivery, Envelope, Inbox, InboxError, MessageId};
use semel::timer::SystemClock;
use semel::{MemoryStore, Once, Policy, PolicyBuilder};

pub(crate) const LEASE: Duration = Duration::from_secs(60);

pub(crate) type Faulty = Fault<MemoryStore>;

/// What work fails with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken;

pub(crate) type Delivered<E> = Result<Delivery<E>, InboxError<E>>;

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn memory() -> MemoryStore {
    MemoryStore::new(SystemClock::new())
}

pub(crate) fn faulty() -> (Faulty, Once) {
    let store = Fault::new(memory());
    (store.clone(), Once::new(Arc::new(store)))
}

pub(crate) fn planned(
    plan: impl Fn(&FaultCall<'_>) -> FaultAction + Send + Sync + 'static,
) -> (Faulty, Once) {
    let store = Fault::with_plan(memory(), plan);
    (store.clone(), Once::new(Arc::new(store)))
}

/// How many swaps and reads there were.
pub(crate) fn trips(store: &Faulty) -> (u64, u64) {
    (store.calls(StoreOp::Swap), store.calls(StoreOp::Read))
}

pub(crate) fn policy(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Arc<Policy> {
    Arc::new(change(Policy::builder()).build().unwrap())
}

pub(crate) fn consumer(name: &str) -> Consumer {
    Consumer::new(name).unwrap()
}

pub(crate) fn billing(once: &Once) -> Inbox {
    Inbox::new(once.clone(), consumer("billing")).unwrap()
}

pub(crate) fn with_policy(once: &Once, policy: Arc<Policy>) -> Inbox {
    Inbox::builder(once.clone(), consumer("billing")).policy(policy).build().unwrap()
}

/// A message may be tried so often.
pub(crate) fn limited(once: &Once, most: u32) -> Inbox {
    let limit = AttemptLimit::AtMost(most);
    Inbox::builder(once.clone(), consumer("billing")).attempt_limit(limit).build().unwrap()
}

pub(crate) fn message(id: &str) -> Envelope {
    Envelope::new(MessageId::new("/shop", id).unwrap())
}

/// Work that succeeds.
pub(crate) async fn handled(inbox: &Inbox, envelope: &Envelope) -> Delivered<Infallible> {
    inbox.receive(envelope).run(async |_| Ok(())).await
}

/// Work that fails.
pub(crate) async fn failed(inbox: &Inbox, envelope: &Envelope) -> Delivered<Broken> {
    inbox.receive(envelope).run(async |_| Err(Broken)).await
}

/// Work that must not run.
pub(crate) async fn not_run(inbox: &Inbox, envelope: &Envelope) -> Delivered<Infallible> {
    inbox.receive(envelope).run(async |_| panic!("it must not run")).await
}

/// A consumer that dies in the middle of its work: its lease is there, and nobody renews it.
pub(crate) async fn crashed(inbox: &Inbox, envelope: &Envelope) {
    let work = inbox.receive(envelope).run(async |_| std::future::pending().await);
    let cut: Option<Delivered<Infallible>> =
        semel::timer::within(Duration::from_millis(1), work).await;
    assert!(cut.is_none(), "the work must have begun: {cut:?}");
}
