//! kill -9, and the retry through gRPC.

use super::{Grpc, is_replay, start};
use crate::support::{Files, until};

#[tokio::test]
async fn what_was_replied_before_a_kill_is_replied_again_after_it() {
    let files = Files::new();
    let server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    let mut first = Vec::new();
    for key in ["a", "b", "c"] {
        first.push(client.create(key).await.unwrap().into_inner());
    }
    server.kill().await;
    let server = start(&files, &[]).await;
    let client = Grpc::of(&server).await;
    for (key, first) in ["a", "b", "c"].iter().zip(&first) {
        let again = client.create(key).await.unwrap();
        assert!(is_replay(&again));
        assert_eq!(again.get_ref(), first);
    }
    assert_eq!(client.executions().await, 3);
}

#[tokio::test]
async fn an_execution_that_was_killed_runs_again_once_its_lease_is_over() {
    let files = Files::new();
    let flags = ["--in-progress-time-to-live=2s", "--wait=30s"];
    let server = start(&files, &flags).await;
    let client = Grpc::of(&server).await;
    let fields = [("idempotency-key", "k"), ("x-demo", "slow=60s")];
    let call = client.clone();
    let call = tokio::spawn(async move { call.order(&fields, "Keyboard").await });
    until("the execution", async || (client.executions().await == 1).then_some(())).await;
    server.kill().await;
    assert!(call.await.unwrap().is_err());

    let server = start(&files, &flags).await;
    let client = Grpc::of(&server).await;
    let retry = until("the lease's end", async || client.create("k").await.ok()).await;
    assert!(!is_replay(&retry));
    assert!(is_replay(&client.create("k").await.unwrap()));
    assert_eq!(client.list().await.len(), 1);
    assert_eq!(client.executions().await, 2);
}

#[tokio::test]
async fn under_at_most_once_a_killed_execution_is_in_doubt() {
    let files = Files::new();
    let flags = ["--guarantee=at_most_once", "--in-progress-time-to-live=1s", "--wait=30s"];
    let server = start(&files, &flags).await;
    let client = Grpc::of(&server).await;
    let fields = [("idempotency-key", "k"), ("x-demo", "slow=60s")];
    let call = client.clone();
    let call = tokio::spawn(async move { call.order(&fields, "Keyboard").await });
    until("the execution", async || (client.executions().await == 1).then_some(())).await;
    server.kill().await;
    assert!(call.await.unwrap().is_err());

    let server = start(&files, &flags).await;
    let client = Grpc::of(&server).await;
    until("the lease's end", async || {
        let refused = client.create("k").await.unwrap_err();
        (super::error_code(&refused) == "CACHING_CONFLICT_004").then_some(())
    })
    .await;
    assert_eq!(client.list().await, []);
    assert_eq!(client.executions().await, 1);
}
