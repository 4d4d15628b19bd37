//! Which methods are protected.

use semel_grpc::{GrpcIdempotencyLayer, OtherMethods};
use tonic::Code;

use crate::support::{CREATE, Running, Shop, WATCH, framed, layer, once, order};

#[tokio::test]
async fn a_method_that_nobody_named_is_refused() {
    let shop = Shop::new();
    let forgetful = GrpcIdempotencyLayer::new(once()).pass(WATCH);
    let server = Running::serve(forgetful.clone(), shop.clone()).await;
    let refused = server.client().await.create("k").await.unwrap_err();
    assert_eq!(refused.code(), Code::Internal);
    assert_eq!(shop.runs(), 0);
    let server = Running::serve(forgetful.other_methods(OtherMethods::Pass), shop.clone()).await;
    let client = server.client().await;
    client.create("k").await.unwrap();
    client.create("k").await.unwrap();
    assert_eq!(shop.runs(), 2);
}

#[tokio::test]
async fn what_is_neither_grpc_nor_protected_is_for_the_service_to_answer() {
    let server = Running::serve(layer(), Shop::new()).await;
    let answer = server.client().await.raw("/health", &[("content-type", "text/plain")], "").await;
    assert_ne!(answer.unwrap().headers["grpc-status"], "13");
}

#[tokio::test]
async fn a_key_is_bound_to_the_operation_and_not_to_the_method() {
    let shop = Shop::new();
    let once = once();
    let one = GrpcIdempotencyLayer::new(once.clone()).unary(CREATE);
    let other = GrpcIdempotencyLayer::new(once).unary_as(CREATE, "orders.create");
    let (one, other) =
        (Running::serve(one, shop.clone()).await, Running::serve(other, shop.clone()).await);
    one.client().await.create("k").await.unwrap();
    let refused = other.client().await.create("k").await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let info = crate::refusals::info(&refused, "CACHING_CONFLICT_003");
    assert_eq!(info.metadata["operation"], "orders.create");
    assert_eq!(info.metadata["recorded"], "shop.Orders/Create");
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn compression_is_part_of_what_is_compared() {
    let server = Running::serve(layer(), Shop::new()).await;
    let client = server.client().await;
    let mut body = framed(&order("pen"));
    let fields = |encoding| {
        [
            ("content-type", "application/grpc"),
            ("grpc-encoding", encoding),
            ("authorization", "alice"),
            ("idempotency-key", "k"),
        ]
    };
    let first = client.raw(CREATE, &fields("identity"), body.clone()).await.unwrap();
    assert_eq!(first.trailers.unwrap()["grpc-status"], "0");
    body[0] = 1;
    let refused = client.raw(CREATE, &fields("gzip"), body).await.unwrap();
    assert_eq!(refused.headers["idempotency-error"], "CACHING_VALIDATION_003");
}

#[test]
#[should_panic(expected = "GrpcIdempotencyLayer: `Create` is no method")]
fn a_name_that_is_no_method_is_told_at_set_up() {
    drop(layer().unary("Create"));
}

#[test]
#[should_panic(expected = "GrpcIdempotencyLayer: shop.Orders/Watch is named twice")]
fn a_method_with_two_meanings_is_told_at_set_up() {
    drop(layer().unary(WATCH));
}

#[test]
#[should_panic(expected = "`set-cookie`, which is never replayed")]
fn metadata_that_is_never_replayed_is_told_at_set_up() {
    drop(layer().replayed_metadata([http::header::SET_COOKIE]));
}
