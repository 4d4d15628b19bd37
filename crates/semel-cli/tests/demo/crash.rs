//! kill -9 in the middle of a call: what each guarantee makes of it.

use crate::support::{Call, Client, Files, Http, Server, keyboard, over_both, until};

/// Starts a slow call and kills the server while its handler runs.
async fn killed_midway(files: &Files, flags: &[&str], http: Http) -> Server {
    let server = files.start(flags).await;
    let client = server.client(http).await;
    let slow = tokio::spawn(async move { client.try_send(slow()).await });
    until("the handler runs", async || {
        (server.executions("POST /orders").await == 1).then_some(())
    })
    .await;
    server.kill().await;
    assert!(slow.await.unwrap().is_err(), "the call broke off");
    files.start(flags).await
}

fn slow() -> Call {
    keyboard("k").demo("slow=10m")
}

/// Repeats the call until it is no longer in progress.
async fn settled(client: &Client) -> crate::support::Answer {
    until("the lease of the dead runs out", async || {
        let answer = client.send(keyboard("k")).await;
        (answer.header("idempotency-error") != Some("CACHING_CONFLICT_002")).then_some(answer)
    })
    .await
}

const SHORT_LEASE: [&str; 4] = ["--in-progress-time-to-live", "2s", "--wait", "100ms"];

over_both! {
    /// P5, N4: usable again within the lease.
    async fn under_retryable_the_next_caller_takes_over_after_the_lease(http) {
        let files = Files::new();
        let server = killed_midway(&files, &SHORT_LEASE, http).await;
        let client = server.client(http).await;
        let second = settled(&client).await;
        second.assert_fresh(201);
        client.send(keyboard("k")).await.assert_replays(&second);
        assert_eq!(server.executions("POST /orders").await, 2);
        assert_eq!(server.orders().await.len(), 1);
    }

    async fn under_at_most_once_nobody_runs_it_again(http) {
        let files = Files::new();
        let flags = [&SHORT_LEASE[..], &["--guarantee", "at_most_once"]].concat();
        let server = killed_midway(&files, &flags, http).await;
        let client = server.client(http).await;
        let doubt = settled(&client).await;
        let params = doubt.assert_refusal(
            409, "CACHING_CONFLICT_004", "caching.idempotency.in_doubt",
        );
        assert!(!params["since"].is_null(), "{params}");
        assert_eq!(doubt.json()["sameKey"], false);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    /// `--in-doubt` says what becomes of it, whatever the guarantee bundles.
    async fn in_doubt_reject_lets_nobody_take_over(http) {
        let files = Files::new();
        let flags = [&SHORT_LEASE[..], &["--in-doubt", "reject"]].concat();
        let server = killed_midway(&files, &flags, http).await;
        let client = server.client(http).await;
        settled(&client).await.assert_refusal(
            409, "CACHING_CONFLICT_004", "caching.idempotency.in_doubt",
        );
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn another_process_takes_over_from_one_that_died(http) {
        let files = Files::new();
        let survivor = files.start(&SHORT_LEASE).await;
        let restarted = killed_midway(&files, &SHORT_LEASE, http).await;
        let second = settled(&survivor.client(http).await).await;
        second.assert_fresh(201);
        restarted.client(http).await.send(keyboard("k")).await.assert_replays(&second);
        assert_eq!(survivor.executions("POST /orders").await, 2);
        assert_eq!(survivor.orders().await.len(), 1);
    }
}
