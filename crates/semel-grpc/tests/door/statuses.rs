//! Which replies are final, and how they come back.

use std::sync::Arc;

use bytes::Bytes;
use semel::{Guarantee, OnException};
use semel_grpc::GrpcFailures;
use semel_http::Finality;
use tonic::{Code, Response, Status};

use crate::support::{Running, Shop, layer, policy};

/// The first execution fails so; later ones don't.
fn fails_once(code: Code) -> Shop {
    Shop::with(move |asked| async move {
        if asked.run > 1 {
            return Ok(Response::new(asked.placed()));
        }
        let details = Bytes::from_static(b"\x08\x05\x12\x01x");
        Err(Status::with_details(code, "out of pens: 鋼筆", details))
    })
}

#[tokio::test]
async fn what_the_client_did_wrong_is_replayed_with_its_message_and_details() {
    for code in [
        Code::InvalidArgument,
        Code::NotFound,
        Code::AlreadyExists,
        Code::PermissionDenied,
        Code::FailedPrecondition,
        Code::OutOfRange,
        Code::Unauthenticated,
    ] {
        let shop = fails_once(code);
        let server = Running::serve(layer(), shop.clone()).await;
        let client = server.client().await;
        let first = client.raw_order("k").await.unwrap();
        assert_eq!(first.headers["grpc-status"], (code as i32).to_string().as_str());
        assert_eq!(client.raw_order("k").await.unwrap().unmarked(), first);
        let again = client.create("k").await.unwrap_err();
        assert_eq!((again.code(), again.message()), (code, "out of pens: 鋼筆"));
        assert_eq!(again.details(), b"\x08\x05\x12\x01x");
        assert_eq!(shop.runs(), 1);
    }
}

#[tokio::test]
async fn what_may_pass_frees_the_key() {
    for code in [
        Code::Cancelled,
        Code::Unknown,
        Code::DeadlineExceeded,
        Code::ResourceExhausted,
        Code::Aborted,
        Code::Unimplemented,
        Code::Internal,
        Code::Unavailable,
        Code::DataLoss,
    ] {
        let shop = fails_once(code);
        let server = Running::serve(layer(), shop.clone()).await;
        let client = server.client().await;
        assert_eq!(client.create("k").await.unwrap_err().code(), code);
        assert_eq!(client.create("k").await.unwrap().into_inner().number, 2);
        assert_eq!(client.create("k").await.unwrap().into_inner().number, 2);
        assert_eq!(shop.runs(), 2);
    }
}

#[tokio::test]
async fn all_replies_are_final_where_one_effect_is_all_that_is_allowed() {
    for layer in [
        layer().failures(GrpcFailures::All),
        layer().guarantee(Guarantee::AtMostOnce),
        layer().policy(policy(|policy| policy.guarantee(Guarantee::AtMostOnce))),
    ] {
        let shop = fails_once(Code::Unavailable);
        let server = Running::serve(layer, shop.clone()).await;
        let client = server.client().await;
        for _ in 0..3 {
            assert_eq!(client.create("k").await.unwrap_err().code(), Code::Unavailable);
        }
        assert_eq!(shop.runs(), 1);
    }
}

#[tokio::test]
async fn an_application_may_judge_for_itself() {
    let judge = |code| if code == Code::Aborted { Finality::Final } else { Finality::Transient };
    let layer = layer().failures(GrpcFailures::Custom(Arc::new(judge)));
    let shop = fails_once(Code::Aborted);
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    for key in ["k", "k"] {
        assert_eq!(client.create(key).await.unwrap_err().code(), Code::Aborted);
    }
    // OK is transient under this rule, odd as it is.
    client.create("other").await.unwrap();
    client.create("other").await.unwrap();
    assert_eq!(shop.runs(), 3);
}

/// A handler that panics frees its key.
#[tokio::test]
async fn a_handler_that_panics_frees_its_key() {
    let shop = Shop::with(|asked| async move {
        assert!(asked.run > 1, "the first one panics");
        Ok(Response::new(asked.placed()))
    });
    let server = Running::serve(layer(), shop.clone()).await;
    server.client().await.create("k").await.unwrap_err();
    let client = server.client().await;
    assert_eq!(client.create("k").await.unwrap().into_inner().number, 2);
}

#[tokio::test]
async fn a_panic_that_is_to_be_recorded_is_replayed_as_a_status() {
    let shop = Shop::with(|_| async move { panic!("always") });
    let layer = layer().policy(policy(|policy| policy.on_exception(OnException::Record)));
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    let first = client.create("k").await.unwrap_err();
    let again = client.create("k").await.unwrap_err();
    assert_eq!((first.code(), again.code()), (Code::Internal, Code::Internal));
    assert_eq!(first.message(), again.message());
    assert_eq!(again.metadata().get("idempotent-replayed").unwrap(), "true");
    assert_eq!(shop.runs(), 1);
}
