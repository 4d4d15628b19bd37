//! A layer around a layer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use semel::{Begun, BindOperation, Call, Code, InFlight, Once, Operation};
use semel_http::{Failures, IdempotencyLayer};
use tower::{Layer, ServiceExt};

use crate::support::clocks::Passed;
use crate::support::logs::Logs;
use crate::support::{Answer, Door, alice, once, order, policy};

fn around(outer: IdempotencyLayer, door: &Door) -> impl AsyncFn(&str) -> Answer {
    let service = outer.layer(door.service.clone());
    async move |key: &str| {
        let response = service.clone().oneshot(order(key, "{}")).await.unwrap();
        Answer::of(response).await.unwrap()
    }
}

async fn held(once: &Once, key: &str) -> semel::Claim {
    let operation = Operation::new("POST /orders").unwrap();
    let call = Call::new(&once.default_policy(), &alice(), key, operation).unwrap();
    let Begun::Fresh(claim) = once.begin(&call).await else { panic!("the key is free") };
    claim
}

/// S7: that another call is in flight is nothing to record, whatever the rule for failures.
#[tokio::test]
async fn s7_the_conflict_of_a_layer_further_in_is_never_recorded() {
    for failures in [Failures::FinalBelow500, Failures::All] {
        let reject = policy(|policy| policy.in_flight(InFlight::Reject));
        let door = Door::counting(once(), |layer| layer.policy(reject));
        let send = around(IdempotencyLayer::new(once()).failures(failures), &door);
        let claim = held(&door.once, "k").await;
        send("k").await.assert_is(Code::InProgress);
        claim.release().await;
        send("k").await.assert_is_the_handlers(201, "order 1");
        assert!(send("k").await.is_marked());
        assert_eq!(door.runs.count(), 1);
    }
}

/// The same of its answers that have no code.
#[tokio::test]
async fn faults_of_a_layer_further_in_are_never_recorded() {
    let door = Door::counting(once(), |layer| layer);
    let misled = Arc::new(AtomicBool::new(true));
    let misleads = Arc::clone(&misled);
    let service = tower::ServiceBuilder::new()
        .layer(IdempotencyLayer::new(once()).failures(Failures::All))
        .map_request(move |mut request: http::Request<_>| {
            if misleads.load(Ordering::SeqCst) {
                request.extensions_mut().remove::<semel::Scope>();
            }
            request
        })
        .service(door.service.clone());
    let fault = service.clone().oneshot(order("k", "{}")).await.unwrap();
    assert_eq!(fault.status(), StatusCode::INTERNAL_SERVER_ERROR);
    misled.store(false, Ordering::SeqCst);
    let answer = Answer::of(service.oneshot(order("k", "{}")).await.unwrap()).await.unwrap();
    answer.assert_is_the_handlers(201, "order 1");
    assert!(!answer.is_marked());
}

/// hono#178: a conflict that the handler itself answers is as durable as any other answer.
#[tokio::test]
async fn the_handlers_own_conflict_is_recorded() {
    let door = Door::with(
        once(),
        |layer| layer,
        |asked| async move {
            let body = axum::body::Body::from(format!("taken, run {}", asked.run));
            Ok(http::Response::builder().status(409).body(body).unwrap())
        },
    );
    door.post("k", "{}").await.assert_is_the_handlers(409, "taken, run 1");
    door.post("k", "{}").await.assert_is_the_handlers(409, "taken, run 1");
}

/// Two layers of one store around one route would wait for each other until the wait is over, at
/// every request. That is told at once, and in the log.
#[tokio::test(start_paused = true)]
async fn two_layers_of_one_store_around_one_route_are_told_at_the_first_request() {
    let (logs, _guard) = Logs::begin();
    let door = Door::counting(once(), |layer| layer);
    let began = Passed::since_now();
    let send = around(IdempotencyLayer::new(door.once.clone()), &door);
    let answer = send("k").await;
    assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(began.time().as_millis(), 0, "nobody waited");
    assert_eq!(door.runs.count(), 0);
    assert!(logs.text().contains("two idempotency layers of one store"), "{}", logs.text());
    // Nothing was recorded: the layer further in goes on working by itself.
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
}

/// Where keys are separate, or stores are, a layer may stand around a layer.
#[tokio::test]
async fn two_layers_with_keys_of_their_own_both_protect() {
    let separate = policy(|policy| policy.bind_operation(BindOperation::Separate));
    let door = Door::counting(once(), |layer| layer.policy(separate).operation("orders.create"));
    let send = around(IdempotencyLayer::new(door.once.clone()), &door);
    for _ in 0..2 {
        send("k").await.assert_is_the_handlers(201, "order 1");
    }
    assert_eq!(door.runs.count(), 1);

    let other = Once::new(Arc::new(crate::support::memory()));
    let door = Door::counting(once(), |layer| layer);
    let send = around(IdempotencyLayer::new(other), &door);
    for _ in 0..2 {
        send("k").await.assert_is_the_handlers(201, "order 1");
    }
    assert_eq!(door.runs.count(), 1);
}
