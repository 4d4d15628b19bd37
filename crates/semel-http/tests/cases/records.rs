//! Records that are there, half there, or gone in between: hono-idempotency, margince, granit.

use std::sync::Arc;

use semel::core::{
    Claim, Expect, Fault, FaultAction, Key, Next, Record, State, StoreOp, Swap, Token, Touch, Ttl,
    codec,
};
use semel::timer::SystemClock;
use semel::{Extent, Form, MemoryStore, Operation, Outcome, Policy};
use semel_http::IdempotencyLayer;

use super::support::{App, alice, once, order, over};

/// A call had been completed and its answer was missing; every repeat was told "in progress", for
/// ever.
#[tokio::test]
async fn hono_92_a_record_without_its_answer_is_done_and_not_in_progress() {
    let engine = once();
    let app = App::creating(&IdempotencyLayer::new(engine.clone()).operation("orders.create"));
    let key = Key::idempotency(&alice(), "k").unwrap();
    let claim = Claim {
        operation: Operation::new("orders.create").unwrap(),
        fingerprint: None,
        token: Token::fresh(),
        attempt: 1,
        owner: None,
    };
    for (form, extent) in
        [(Form::Http, Extent::Whole), (Form::Http, Extent::Partial), (Form::Bytes, Extent::Whole)]
    {
        let outcome = Outcome { form, extent, payload: bytes::Bytes::new() };
        let record = Record { claim: claim.clone(), state: State::Done(outcome) };
        let value = codec::encode(&key.digest(), &record);
        let put = Next::Put { value, lease: Ttl::ZERO, keep: Ttl::MAX };
        assert!(matches!(engine.store().swap(&key, Expect::Any, put).await, Ok(Swap::Won(_))));
        let told = app.send(order("k")).await;
        assert_eq!(told.told(), (409, "CACHING_CONFLICT_003"));
        assert_eq!((told.problem("sameKey"), told.header("retry-after")), (false.into(), ""));
    }
    assert_eq!(app.runs(), 0);
}

/// A key under which nothing ever is.
fn nothing() -> FaultAction {
    FaultAction::Crossed(Key::new("nothing-is-here").unwrap())
}

/// The sweeper deleted the row between the insert that met it and the read that looked at it.
#[tokio::test]
async fn margince_423_a_key_that_is_free_again_when_looked_at_is_claimed_before_it_runs() {
    let fault = Fault::new(MemoryStore::new(SystemClock::new()));
    // The claim is told that something is in its way, and sees nothing there.
    fault.next(StoreOp::Swap, nothing());
    let engine = over(Arc::new(fault.clone()), Policy::builder());
    let app = App::creating(&IdempotencyLayer::new(engine.clone()).operation("orders.create"));
    assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
    assert_eq!(fault.left(StoreOp::Swap), 0);
    let key = Key::idempotency(&alice(), "k").unwrap();
    let value = engine.store().read(&key, Touch::No).await.unwrap().entry.unwrap().value;
    let record = codec::decode(&key.digest(), &value).unwrap();
    assert!(matches!(record.state, State::Done(_)));
    assert!(app.send(order("k")).await.is_replay());
    assert_eq!(app.runs(), 1);
}

/// The same race, where the one who saw nothing went on without a claim.
#[tokio::test]
async fn granit_1151_who_never_gets_a_claim_never_runs() {
    let fault = Fault::with_plan(MemoryStore::new(SystemClock::new()), |call| match call.op {
        StoreOp::Swap => nothing(),
        _ => FaultAction::Pass,
    });
    let app = App::creating(&IdempotencyLayer::new(over(Arc::new(fault), Policy::builder())));
    assert_eq!(app.send(order("k")).await.told(), (409, "CACHING_CONFLICT_002"));
    assert_eq!(app.runs(), 0);
}
