//! One order, one key, two doors.

use tonic::Code;

use super::{Grpc, error_code, is_replay, start};
use crate::support::{Call, Files, Http, keyboard};

#[tokio::test]
async fn an_order_of_http_is_replayed_through_grpc_and_the_other_way_round() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let (http, grpc) = (server.client(Http::One).await, Grpc::of(&server).await);
    let made = http.send(keyboard("a")).await;
    made.assert_fresh(201);
    let again = grpc.create("a").await.unwrap();
    assert!(is_replay(&again));
    let order = again.into_inner();
    assert_eq!(made.json()["id"], order.id);
    assert_eq!(made.json()["createdAt"], order.created_at);

    let made = grpc.create("b").await.unwrap().into_inner();
    let again = http.send(keyboard("b")).await;
    assert_eq!(again.status, 201);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("location"), Some(format!("/orders/{}", made.id).as_str()));
    assert_eq!(again.json()["id"], made.id);
    assert_eq!(again.json()["subject"], "alice");
    assert_eq!(server.orders().await.len(), 2);
    assert_eq!(grpc.executions().await, 2);
}

#[tokio::test]
async fn another_order_under_the_same_key_is_a_mismatch_through_either_door() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let (http, grpc) = (server.client(Http::One).await, Grpc::of(&server).await);
    http.send(keyboard("a")).await.assert_fresh(201);
    let refused = grpc.order(&[("idempotency-key", "a")], "Mouse").await.unwrap_err();
    assert_eq!(
        (refused.code(), error_code(&refused)),
        (Code::InvalidArgument, "CACHING_VALIDATION_003")
    );
    grpc.order(&[("idempotency-key", "b")], "Mouse").await.unwrap();
    let refused = http.send(keyboard("b")).await;
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json()["params"]["differs"][0], "input");
    assert_eq!(server.orders().await.len(), 2);
}

/// Payments are said through neither door in the other's words.
#[tokio::test]
async fn an_operation_that_does_not_say_how_is_refused_through_the_other_door() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let (http, grpc) = (server.client(Http::One).await, Grpc::of(&server).await);
    let order = grpc.create("o").await.unwrap().into_inner().id;
    let payment =
        |key| Call::post("/payments", &format!(r#"{{"order":{order},"amount":5}}"#)).key(key);
    http.send(payment("a")).await.assert_fresh(201);
    let refused = grpc.pay("a", order).await.unwrap_err();
    assert_eq!(
        (refused.code(), error_code(&refused)),
        (Code::FailedPrecondition, "CACHING_CONFLICT_003")
    );
    grpc.pay("b", order).await.unwrap();
    let refused = http.send(payment("b")).await;
    assert_eq!(refused.status, 409);
    assert_eq!(refused.json()["messageKey"], "caching.idempotency.key_reused");
    assert_eq!(server.executions("POST /payments").await, 2);
}
