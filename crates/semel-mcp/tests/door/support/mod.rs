//! A small server behind the door, and clients of it.

// Rows are rows, whatever the door.
#[path = "../../../../semel-grpc/tests/door/support/books.rs"]
pub(crate) mod books;
pub(crate) mod shop;
pub(crate) mod web;
pub(crate) mod wire;

use std::sync::Arc;
use std::time::Duration;

use semel::core::{Fault, FaultAction, StoreErrorKind, StoreOp};
use semel::timer::{self, SystemClock};
use semel::{MemoryStore, Once, Policy, PolicyBuilder, Scope};
use semel_mcp::IdempotentTools;

pub(crate) use shop::{Shop, text};
pub(crate) use wire::{Reply, Wire, call};

pub(crate) fn memory() -> MemoryStore {
    MemoryStore::new(SystemClock::new())
}

pub(crate) fn once() -> Once {
    Once::new(Arc::new(memory()))
}

/// A store that a test can break, and an engine over it.
pub(crate) fn faulty() -> (Fault<MemoryStore>, Once) {
    let store = Fault::new(memory());
    (store.clone(), Once::new(Arc::new(store)))
}

pub(crate) const DOWN: FaultAction = FaultAction::FailBefore(StoreErrorKind::NotApplied);

/// Every swap fails from here on, as often as a test can ask.
pub(crate) fn down(store: &Fault<MemoryStore>) {
    for _ in 0..1000 {
        store.next(StoreOp::Swap, DOWN);
    }
}

pub(crate) fn alice() -> Scope {
    Scope::new("acme", "alice").unwrap()
}

/// Keys are optional, and all calls are Alice's.
pub(crate) fn tools(once: &Once) -> IdempotentTools {
    IdempotentTools::new(once.clone()).scope(|_| Some(alice()))
}

pub(crate) fn policy(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Arc<Policy> {
    Arc::new(change(Policy::builder()).build().unwrap())
}

/// Waits for a condition, as long as it takes; the test's own time limit ends it.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        timer::sleep(Duration::from_millis(1)).await;
    }
}
