//! Orders and payments.

use tokio::task::JoinSet;
use tonic::Code;

use super::{Grpc, error_code, is_replay, start};
use crate::support::{Files, until};

#[tokio::test]
async fn an_order_sent_twice_is_one_order_and_one_reply() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    let first = client.create("k").await.unwrap();
    assert!(!is_replay(&first));
    let again = client.create("k").await.unwrap();
    assert!(is_replay(&again));
    let order = first.into_inner();
    assert_eq!(again.into_inner(), order);
    assert_eq!((order.name.as_str(), order.amount), ("Keyboard", 2));
    assert_eq!((order.tenant.as_str(), order.subject.as_str()), ("acme", "alice"));
    assert_eq!(client.get(order.id).await.unwrap(), order);
    assert_eq!(client.list().await, [order]);
    assert_eq!(client.executions().await, 1);
    // The same data through HTTP.
    assert_eq!(server.orders().await, ["Keyboard"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_duplicates_over_two_processes_are_one_order() {
    let files = Files::new();
    let servers = [start(&files, &["--wait=60s"]).await, start(&files, &["--wait=60s"]).await];
    let mut calls = JoinSet::new();
    for call in 0..50 {
        let client = Grpc::of(&servers[call % 2]).await;
        calls.spawn(async move { client.create("k").await.unwrap().into_inner() });
    }
    let replies = calls.join_all().await;
    assert!(replies.iter().all(|reply| *reply == replies[0]));
    let client = Grpc::of(&servers[0]).await;
    assert_eq!(client.list().await.len(), 1);
    assert_eq!(client.executions().await, 1);
}

#[tokio::test]
async fn a_caller_without_an_api_key_is_nobody_and_leaves_no_record() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    for credential in ["", "ApiKey", "Bearer dev-alice-key", "ApiKey dev-dave-key"] {
        let fields = [("authorization", credential), ("idempotency-key", "k")];
        let refused = client.order(&fields, "Keyboard").await.unwrap_err();
        assert_eq!((refused.code(), error_code(&refused)), (Code::Unauthenticated, ""));
    }
    assert!(!is_replay(&client.create("k").await.unwrap()));
}

#[tokio::test]
async fn keys_of_two_accounts_are_apart() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    client.create("k").await.unwrap();
    for account in ["ApiKey dev-bob-key", "ApiKey dev-carol-key"] {
        let fields = [("authorization", account), ("idempotency-key", "k")];
        assert!(!is_replay(&client.order(&fields, "Keyboard").await.unwrap()));
    }
}

#[tokio::test]
async fn what_is_refused_says_why() {
    let files = Files::new();
    let server = start(&files, &["--max-request-body=1KiB"]).await;
    let client = Grpc::of(&server).await;
    let missing = client.order(&[], "Keyboard").await.unwrap_err();
    assert_eq!(
        (missing.code(), error_code(&missing)),
        (Code::InvalidArgument, "CACHING_VALIDATION_002")
    );
    client.create("k").await.unwrap();
    let other = client.order(&[("idempotency-key", "k")], "Mouse").await.unwrap_err();
    assert_eq!(
        (other.code(), error_code(&other)),
        (Code::InvalidArgument, "CACHING_VALIDATION_003")
    );
    let reused = client.pay("k", 1).await.unwrap_err();
    assert_eq!(
        (reused.code(), error_code(&reused)),
        (Code::FailedPrecondition, "CACHING_CONFLICT_003")
    );
    let large = client.order(&[("idempotency-key", "l")], &"x".repeat(2000)).await.unwrap_err();
    assert_eq!(
        (large.code(), error_code(&large)),
        (Code::ResourceExhausted, "CACHING_VALIDATION_005")
    );
    // The order service's own, which is recorded like any other reply.
    let blank = client.order(&[("idempotency-key", "b")], " ").await.unwrap_err();
    assert_eq!((blank.code(), error_code(&blank)), (Code::InvalidArgument, ""));
    assert!(blank.message().contains("name:"), "{blank:?}");
    let again = client.order(&[("idempotency-key", "b")], " ").await.unwrap_err();
    assert_eq!(again.message(), blank.message());
    assert!(again.metadata().contains_key("idempotent-replayed"));
    assert_eq!(client.get(77).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn a_payment_has_a_key_too() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    let order = client.create("o").await.unwrap().into_inner().id;
    let first = client.pay("p", order).await.unwrap().into_inner();
    let again = client.pay("p", order).await.unwrap();
    assert!(is_replay(&again));
    assert_eq!(again.into_inner(), first);
    assert_eq!(client.pay("q", 77).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_method_misbehaves_as_wished() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    let wish = async |key, wish| {
        client.order(&[("idempotency-key", key), ("x-demo", wish)], "Keyboard").await
    };
    assert_eq!(wish("a", "fail-once").await.unwrap_err().code(), Code::Internal);
    assert!(!is_replay(&wish("a", "fail-once").await.unwrap()));
    assert!(is_replay(&wish("a", "fail-once").await.unwrap()));
    for _ in 0..2 {
        let panicked = wish("b", "panic").await.unwrap_err();
        assert_eq!(
            (panicked.code(), panicked.message()),
            (Code::Internal, "The handler panicked.")
        );
    }
    let sold_out = wish("c", "conflict").await.unwrap_err();
    assert_eq!((sold_out.code(), error_code(&sold_out)), (Code::FailedPrecondition, ""));
    assert_eq!(wish("d", "stream=3").await.unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(wish("e", "explode").await.unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(client.list().await.len(), 1);
}

#[tokio::test]
async fn a_deadline_that_passes_stops_no_order_and_the_retry_gets_it() {
    let files = Files::new();
    let server = start(&files, &["--wait=60s"]).await;
    let client = Grpc::of(&server).await;
    let fields = [("idempotency-key", "k"), ("x-demo", "slow=1s"), ("grpc-timeout", "300m")];
    let late = client.order(&fields, "Keyboard").await.unwrap_err();
    assert!(matches!(late.code(), Code::DeadlineExceeded | Code::Cancelled), "{late:?}");
    assert_eq!(client.executions().await, 1);
    let retry = client.order(&[("idempotency-key", "k"), ("x-demo", "slow=1s")], "Keyboard").await;
    assert!(is_replay(&retry.unwrap()));
    assert_eq!(client.executions().await, 1);
}

#[tokio::test]
async fn a_server_that_is_to_end_ends_with_the_calls_that_run() {
    let files = Files::new();
    let mut server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    let call = client.clone();
    let fields = [("idempotency-key", "k"), ("x-demo", "slow=1s")];
    let call = tokio::spawn(async move { call.order(&fields, "Keyboard").await });
    until("the execution", async || (client.executions().await == 1).then_some(())).await;
    server.terminate();
    assert_eq!(call.await.unwrap().unwrap().into_inner().name, "Keyboard");
    drop(client);
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn a_call_in_flight_is_told_so_after_the_wait() {
    let files = Files::new();
    let server = start(&files, &["--in-flight=reject"]).await;
    let client = Grpc::of(&server).await;
    let slow = client.clone();
    let fields = [("idempotency-key", "k"), ("x-demo", "slow=2s")];
    let slow = tokio::spawn(async move { slow.order(&fields, "Keyboard").await });
    until("the execution", async || (client.executions().await == 1).then_some(())).await;
    let busy = client.create("k").await.unwrap_err();
    assert_eq!((busy.code(), error_code(&busy)), (Code::Aborted, "CACHING_CONFLICT_002"));
    let first = slow.await.unwrap().unwrap().into_inner();
    let again = until("the reply", async || client.create("k").await.ok()).await;
    assert_eq!(again.into_inner(), first);
}
