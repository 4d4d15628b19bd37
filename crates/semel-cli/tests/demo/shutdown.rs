//! SIGTERM: what runs ends and is recorded, within its time.

use crate::support::{Answer, Broken, Client, Files, Http, Server, keyboard, over_both, until};

/// Sends a slow call and gives its task once the handler runs.
async fn slow_call(
    server: &Server,
    client: &Client,
    wish: &'static str,
) -> tokio::task::JoinHandle<Result<Answer, Broken>> {
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.try_send(keyboard("k").demo(wish)).await }
    });
    until("the handler runs", async || {
        (server.executions("POST /orders").await == 1).then_some(())
    })
    .await;
    call
}

over_both! {
    async fn a_call_that_runs_is_answered_before_the_end(http) {
        let files = Files::new();
        let mut server = files.start(&[]).await;
        let client = server.client(http).await;
        let call = slow_call(&server, &client, "slow=1s").await;
        server.terminate();
        let first = call.await.unwrap().unwrap();
        first.assert_fresh(201);
        drop(client);
        assert_eq!(server.ended().await.code(), Some(0));

        let server = files.start(&[]).await;
        server.client(http).await.send(keyboard("k")).await.assert_replays(&first);
    }

    /// The work belongs to no connection any more; the end waits for it all the same.
    async fn work_whose_client_has_gone_is_finished_and_recorded(http) {
        let files = Files::new();
        let mut server = files.start(&[]).await;
        let client = server.client(http).await;
        let call = slow_call(&server, &client, "slow=1s").await;
        call.abort();
        drop(client);
        server.terminate();
        assert_eq!(server.ended().await.code(), Some(0));

        let server = files.start(&[]).await;
        let retry = server.client(http).await.send(keyboard("k")).await;
        assert!(retry.is_replay(), "{retry:?}");
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn a_call_that_outlives_its_time_is_cut_off_and_the_end_says_so(http) {
        let files = Files::new();
        let mut server = files.start(&["--drain", "200ms"]).await;
        let client = server.client(http).await;
        let call = slow_call(&server, &client, "slow=10m").await;
        server.terminate();
        assert_eq!(server.ended().await.code(), Some(75));
        assert!(call.await.unwrap().is_err());
        assert!(files.log().contains("cut off"), "{}", files.log());
    }
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let files = Files::new();
    let mut server = files.start(&["--drain", "1h"]).await;
    let client = server.client(Http::One).await;
    let call = slow_call(&server, &client, "slow=10m").await;
    server.terminate();
    until("it says that it ends", async || files.log().contains("ending").then_some(())).await;
    server.terminate();
    assert_eq!(server.ended().await.code(), Some(75));
    assert!(call.await.unwrap().is_err());
}

#[tokio::test]
async fn silent_and_idle_connections_do_not_hold_the_end() {
    let files = Files::new();
    let mut server = files.start(&[]).await;
    let _silent = crate::support::Raw::connect(server.at).await;
    let mut idle = crate::support::Raw::connect(server.at).await;
    idle.write(b"GET /executions HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(idle.read_some(1024).await.starts_with(b"HTTP/1.1 200"));
    let _shared = server.client(Http::Two).await;
    server.terminate();
    assert_eq!(server.ended().await.code(), Some(0));
}
