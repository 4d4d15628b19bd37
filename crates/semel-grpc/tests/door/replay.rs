//! One execution, and the same reply for every repeat.

use std::time::Duration;

use http::HeaderName;
use semel_grpc::GrpcFingerprint;
use tokio::task::JoinSet;
use tonic::{Code, Response};

use crate::support::{Asked, CREATE, Running, Shop, framed, layer, order};

fn is_marked<T>(reply: &Response<T>) -> bool {
    reply.metadata().get("idempotent-replayed").is_some_and(|mark| mark == "true")
}

#[tokio::test]
async fn fifty_duplicates_over_connections_of_their_own_are_one_execution() {
    let shop = Shop::with(|asked| async move {
        semel::timer::sleep(Duration::from_millis(100)).await;
        Ok(Response::new(asked.placed()))
    });
    let server = Running::serve(layer(), shop.clone()).await;
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let client = server.client().await;
        calls.spawn(async move { client.create("k").await.unwrap() });
    }
    let replies = calls.join_all().await;
    assert!(replies.iter().all(|reply| reply.get_ref().number == 1));
    assert_eq!(replies.iter().filter(|reply| !is_marked(reply)).count(), 1);
    assert_eq!(shop.runs(), 1);
}

/// A reply that has all that a reply can have.
async fn rich(asked: Asked) -> Result<Response<crate::support::Placed>, tonic::Status> {
    let mut reply = Response::new(asked.placed());
    reply.metadata_mut().insert("x-order", "7".parse().unwrap());
    reply.metadata_mut().insert("set-cookie", "secret".parse().unwrap());
    reply
        .metadata_mut()
        .insert_bin("x-proof-bin", tonic::metadata::MetadataValue::from_bytes(b"\0\xff"));
    Ok(reply)
}

#[tokio::test]
async fn a_replay_is_the_first_reply_byte_for_byte() {
    let kept = ["x-order", "x-proof-bin"].map(HeaderName::from_static);
    let layer = layer().replayed_metadata(kept);
    let server = Running::serve(layer, Shop::with(rich)).await;
    let client = server.client().await;
    let mut first = client.raw_order("k").await.unwrap();
    assert_eq!(first.trailers.as_ref().unwrap()["grpc-status"], "0");
    assert!(first.headers.contains_key("x-proof-bin"));
    assert!(!first.body.is_empty());
    // What belongs to one client is not kept.
    first.headers.remove("set-cookie").unwrap();
    for _ in 0..3 {
        assert_eq!(client.raw_order("k").await.unwrap().unmarked(), first);
    }
}

#[tokio::test]
async fn metadata_that_is_not_named_is_not_replayed() {
    let server = Running::serve(layer(), Shop::with(rich)).await;
    let client = server.client().await;
    let first = client.create("k").await.unwrap();
    assert!(first.metadata().contains_key("x-order"));
    let again = client.create("k").await.unwrap();
    assert!(is_marked(&again));
    assert!(!again.metadata().contains_key("x-order"));
    assert!(!again.metadata().contains_key("set-cookie"));
    assert_eq!(again.into_inner(), first.into_inner());
}

#[tokio::test]
async fn the_mark_of_a_replay_is_named_or_left_out() {
    let shop = Shop::new();
    let named = layer().replay_marker(Some(HeaderName::from_static("x-again")));
    let server = Running::serve(named, shop.clone()).await;
    let client = server.client().await;
    client.create("k").await.unwrap();
    assert_eq!(client.create("k").await.unwrap().metadata().get("x-again").unwrap(), "true");
    let server = Running::serve(layer().replay_marker(None), shop).await;
    let client = server.client().await;
    let first = client.raw_order("k").await.unwrap();
    assert_eq!(client.raw_order("k").await.unwrap(), first);
}

#[tokio::test]
async fn a_key_may_travel_in_baggage() {
    let shop = Shop::new();
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    let baggage = ("baggage", "tenant=a,xihan.idempotency-key=k%2D1;p=1");
    let first = client.send(&[("authorization", "alice"), baggage], order("pen")).await.unwrap();
    assert!(!is_marked(&first));
    // The same key in the other place is the same call.
    assert!(is_marked(&client.create("k-1").await.unwrap()));
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn keys_of_two_callers_are_apart() {
    let shop = Shop::new();
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    client.create("k").await.unwrap();
    let bob = [("authorization", "bob"), ("idempotency-key", "k")];
    let other = client.send(&bob, order("pen")).await.unwrap();
    assert!(!is_marked(&other));
    assert_eq!(other.get_ref().number, 2);
}

#[tokio::test]
async fn a_handler_finds_its_permit() {
    let shop = Shop::with(|asked| async move {
        let derived = asked.permit.as_ref().unwrap().derive("payment");
        Ok(Response::new(crate::support::Placed { number: 1, sku: derived }))
    });
    let server = Running::serve(layer(), shop).await;
    let first = server.client().await.create("k").await.unwrap().into_inner();
    assert!(!first.sku.is_empty());
}

#[tokio::test]
async fn a_mismatch_says_which_part_differs() {
    let server = Running::serve(layer(), Shop::new()).await;
    let client = server.client().await;
    client.order("k", "pen").await.unwrap();
    let refused = client.order("k", "ink").await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert_eq!(
        crate::refusals::info(&refused, "CACHING_VALIDATION_003").metadata["differs"],
        "message"
    );
    let fields = [
        ("content-type", "application/grpc+json"),
        ("authorization", "alice"),
        ("idempotency-key", "k"),
    ];
    let refused = client.raw(CREATE, &fields, framed(&order("pen"))).await.unwrap();
    assert_eq!(refused.headers["grpc-status"], "3");
    assert_eq!(refused.headers["idempotency-error"], "CACHING_VALIDATION_003");
    assert!(refused.body.is_empty() && refused.trailers.is_none());
}

#[tokio::test]
async fn without_a_fingerprint_the_first_reply_is_given_to_any_call() {
    let layer = layer().fingerprint(GrpcFingerprint::Off);
    let server = Running::serve(layer, Shop::new()).await;
    let client = server.client().await;
    let first = client.order("k", "pen").await.unwrap().into_inner();
    assert_eq!(client.order("k", "ink").await.unwrap().into_inner(), first);
}
