//! Stores that can't be reached, or don't take a record.

use std::sync::Arc;

use semel::core::{Fault, FaultAction, StoreErrorKind, StoreOp};
use semel::timer::SystemClock;
use semel::{MemoryStore, Once, StoreDown};
use tonic::Code;

use crate::refusals::info;
use crate::support::{Running, Shop, over, policy};

const DOWN: FaultAction = FaultAction::FailBefore(StoreErrorKind::NotApplied);

fn memory() -> MemoryStore {
    MemoryStore::new(SystemClock::new())
}

#[tokio::test]
async fn a_store_that_is_down_lets_nothing_run() {
    let shop = Shop::new();
    let once = Once::new(Arc::new(Fault::with_plan(memory(), |_| DOWN)));
    let server = Running::serve(over(once), shop.clone()).await;
    let refused = server.client().await.create("k").await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
    assert_eq!(info(&refused, "CACHING_UNAVAILABLE_001").metadata["sameKey"], "true");
    assert_eq!(shop.runs(), 0);
}

#[tokio::test]
async fn a_call_that_runs_without_its_store_says_so() {
    let shop = Shop::new();
    let once = Once::new(Arc::new(Fault::with_plan(memory(), |_| DOWN)));
    let layer = over(once).policy(policy(|policy| policy.store_down(StoreDown::Open)));
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    for number in 1..=2 {
        let reply = client.create("k").await.unwrap();
        assert_eq!(reply.metadata().get("idempotency-unprotected").unwrap(), "true");
        assert_eq!(reply.get_ref().number, number);
    }
}

#[tokio::test]
async fn a_reply_that_is_not_recorded_yet_says_so() {
    let shop = Shop::new();
    let store = Arc::new(Fault::new(memory()));
    let once = Once::new(Arc::clone(&store) as Arc<dyn semel::Store>);
    let server = Running::serve(over(once), shop.clone()).await;
    let client = server.client().await;
    store.next(StoreOp::Swap, FaultAction::Pass);
    store.next(StoreOp::Swap, DOWN);
    let first = client.create("k").await.unwrap();
    assert_eq!(first.metadata().get("idempotency-durable").unwrap(), "false");
    // It is tried again in the background; a repeat waits for it.
    let again = client.create("k").await.unwrap();
    assert_eq!(again.metadata().get("idempotent-replayed").unwrap(), "true");
    assert_eq!(again.into_inner(), first.into_inner());
    assert_eq!(shop.runs(), 1);
}
