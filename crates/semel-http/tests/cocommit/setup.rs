//! A guarantee that nothing stands behind is refused when the service is set up.

use std::panic::catch_unwind;
use std::sync::Arc;

use semel::timer::SystemClock;
use semel::{
    CallError, Guarantee, MemoryStore, Once, OpenError, Policy, PolicyError, StoreDown,
    open_with_transactions,
};
use semel_http::IdempotencyLayer;

fn plain() -> Once {
    Once::new(Arc::new(MemoryStore::new(SystemClock::new())))
}

fn transactional() -> Arc<Policy> {
    Arc::new(Policy::builder().guarantee(Guarantee::Transactional).build().unwrap())
}

#[test]
fn a_layer_over_a_store_without_transactions_is_refused_and_told_what_it_needs() {
    for layer in [
        || IdempotencyLayer::new(plain()).guarantee(Guarantee::Transactional),
        || IdempotencyLayer::new(plain()).policy(transactional()),
        || {
            let store = Arc::new(MemoryStore::new(SystemClock::new()));
            IdempotencyLayer::new(Once::builder(store).policy(transactional()).build())
        },
    ] {
        let panic = catch_unwind(layer).expect_err("it must be refused");
        let said = panic.downcast::<String>().expect("it says why");
        assert!(said.contains("`transactional`"), "{said}");
        assert!(said.contains("Once::with_transactions"), "{said}");
    }
}

#[tokio::test]
async fn a_kind_of_store_without_transactions_says_so() {
    for url in ["memory:", "redis://127.0.0.1:1"] {
        match open_with_transactions(url).await {
            Err(OpenError::NoTransactions { .. }) => {}
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[test]
fn a_policy_that_runs_the_work_without_the_store_can_not_be_transactional() {
    let policy = Policy::builder().guarantee(Guarantee::Transactional).store_down(StoreDown::Open);
    assert_eq!(policy.build().unwrap_err(), PolicyError::OpenWithoutTransaction);
}

#[tokio::test]
async fn a_function_that_could_get_no_transaction_does_not_run() {
    let once = plain();
    let call = once.call("k").policy(transactional());
    let run = call.run(async |_| -> Result<u8, ()> { panic!("it must not run") }).await;
    assert!(matches!(run, Err(CallError::NoTransaction)), "{run:?}");
}
