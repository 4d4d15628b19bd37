//! What the layer answers itself.

use std::time::Duration;

use semel::{InFlight, MissingKey};
use semel_grpc::ERROR_DOMAIN;
use semel_http::Anonymous;
use tonic::{Code, Response, Status};
use tonic_types::{ErrorInfo, StatusExt};

use crate::support::{CREATE, Placed, Running, Shop, framed, layer, order, until};

/// What a status says of a problem, which must have this code.
pub(crate) fn info(status: &Status, code: &str) -> ErrorInfo {
    let info = status.get_details_error_info().expect("the layer's own answers have an ErrorInfo");
    assert_eq!((info.reason.as_str(), info.domain.as_str()), (code, ERROR_DOMAIN));
    assert_eq!(status.metadata().get("idempotency-error").unwrap(), code);
    info
}

#[tokio::test]
async fn a_missing_key_is_refused_and_the_metadata_is_named() {
    let shop = Shop::new();
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    let refused = client.send(&[("authorization", "alice")], order("pen")).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let info = info(&refused, "CACHING_VALIDATION_002");
    assert_eq!(info.metadata["messageKey"], "caching.idempotency.key_missing");
    assert_eq!(info.metadata["header"], "Idempotency-Key");
    assert_eq!(info.metadata["sameKey"], "false");
    assert_eq!(shop.runs(), 0);
}

#[tokio::test]
async fn a_call_without_a_key_passes_where_keys_are_optional() {
    let shop = Shop::new();
    let server = Running::serve(layer().missing_key(MissingKey::Optional), shop.clone()).await;
    let client = server.client().await;
    for _ in 0..2 {
        client.send(&[("authorization", "alice")], order("pen")).await.unwrap();
    }
    assert_eq!(shop.runs(), 2);
}

#[tokio::test]
async fn a_key_that_cannot_be_read_is_never_no_key() {
    let shop = Shop::new();
    let server = Running::serve(layer().missing_key(MissingKey::Optional), shop.clone()).await;
    let client = server.client().await;
    for (fields, reason) in [
        (vec![("idempotency-key", "a"), ("idempotency-key", "b")], "several-keys"),
        (
            vec![("idempotency-key", "a"), ("baggage", "xihan.idempotency-key=b")],
            "sources-disagree",
        ),
        (vec![("idempotency-key", "\"\"")], "empty"),
        (vec![("baggage", "xihan.idempotency-key=%zz")], "malformed-baggage"),
    ] {
        let mut metadata = vec![("authorization", "alice")];
        metadata.extend(fields);
        let refused = client.send(&metadata, order("pen")).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert_eq!(info(&refused, "CACHING_VALIDATION_001").metadata["reason"], reason);
    }
    assert_eq!(shop.runs(), 0);
}

#[tokio::test]
async fn texts_come_in_the_language_that_was_asked_for_beside_english() {
    let server = Running::serve(layer(), Shop::new()).await;
    let client = server.client().await;
    let metadata = [("authorization", "alice"), ("accept-language", "zh-CN")];
    let refused = client.send(&metadata, order("pen")).await.unwrap_err();
    assert!(refused.message().is_ascii());
    let localized = refused.get_details_localized_message().unwrap();
    assert_eq!(localized.locale, "zh-Hans");
    assert!(!localized.message.is_ascii());
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_before_anything_runs() {
    let shop = Shop::new();
    let server = Running::serve(layer().max_request_body(1024), shop.clone()).await;
    let client = server.client().await;
    let refused = client.order("k", &"x".repeat(2000)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(info(&refused, "CACHING_VALIDATION_005").metadata["limit"], "1024");
    assert_eq!(shop.runs(), 0);
    // The key is free.
    client.order("k", "pen").await.unwrap();
}

#[tokio::test]
async fn a_reply_over_the_limit_reaches_its_caller_and_no_other() {
    let shop = Shop::with(|asked| async move {
        Ok(Response::new(Placed { number: asked.run as u64, sku: "x".repeat(300 << 10) }))
    });
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    assert_eq!(client.create("k").await.unwrap().get_ref().sku.len(), 300 << 10);
    let refused = client.create("k").await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let info = info(&refused, "CACHING_CONFLICT_003");
    assert_eq!(info.metadata["messageKey"], "caching.idempotency.response_unavailable");
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn a_reply_at_the_limit_is_kept() {
    let server = Running::serve(layer().max_cached_reply(64), Shop::new()).await;
    let client = server.client().await;
    // 5 of the prefix, 2 of the number, 2 before the text.
    for (length, kept) in [(55, true), (56, false)] {
        let (key, sku) = (format!("k{length}"), "x".repeat(length));
        client.order(&key, &sku).await.unwrap();
        assert_eq!(client.order(&key, &sku).await.is_ok(), kept, "{length}");
    }
}

#[tokio::test]
async fn a_call_in_flight_is_told_when_to_come_back() {
    let (go, stop) = tokio::sync::watch::channel(false);
    let shop = Shop::with(move |asked| {
        let mut stop = stop.clone();
        async move {
            stop.wait_for(|go| *go).await.unwrap();
            Ok(Response::new(asked.placed()))
        }
    });
    let server = Running::serve(layer().in_flight(InFlight::Reject), shop.clone()).await;
    let client = server.client().await;
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.create("k").await }
    });
    until(|| shop.runs() == 1).await;
    let refused = client.create("k").await.unwrap_err();
    assert_eq!(refused.code(), Code::Aborted);
    assert_eq!(info(&refused, "CACHING_CONFLICT_002").metadata["sameKey"], "true");
    let retry = refused.get_details_retry_info().unwrap();
    assert_eq!(retry.retry_delay, Some(Duration::from_secs(5)));
    go.send(true).unwrap();
    first.await.unwrap().unwrap();
    assert_eq!(client.create("k").await.unwrap().get_ref().number, 1);
}

#[tokio::test]
async fn a_caller_without_a_scope_is_a_fault_of_the_service() {
    let shop = Shop::new();
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    let refused = client.send(&[("idempotency-key", "k")], order("pen")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Internal);
    assert_eq!(shop.runs(), 0);
    let server = Running::serve(layer().anonymous(Anonymous::Shared), shop.clone()).await;
    let client = server.client().await;
    client.send(&[("idempotency-key", "k")], order("pen")).await.unwrap();
    client.send(&[("idempotency-key", "k")], order("pen")).await.unwrap();
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn what_is_no_grpc_does_not_reach_a_protected_method() {
    let shop = Shop::new();
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    for media in ["application/json", "application/grpc-web", "text/plain"] {
        let fields = [("content-type", media), ("authorization", "alice")];
        let refused = client.raw(CREATE, &fields, framed(&order("pen"))).await.unwrap();
        assert_eq!(refused.headers["x-status"], "415", "{media}");
    }
    assert_eq!(shop.runs(), 0);
}
