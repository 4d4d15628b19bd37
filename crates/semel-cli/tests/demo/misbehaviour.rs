//! Each wish of `X-Demo`, with the outcome that the contract gives.

use std::time::Duration;

use crate::support::{Answer, Call, Client, Files, Http, Server, keyboard, over_both, until};

async fn begin(flags: &[&str], http: Http) -> (Files, Server, Client) {
    let files = Files::new();
    let server = files.start(flags).await;
    let client = server.client(http).await;
    (files, server, client)
}

fn wish(wish: &str) -> Call {
    keyboard("k").demo(wish)
}

#[track_caller]
fn assert_unavailable(answer: &Answer) {
    answer.assert_refusal(409, "CACHING_CONFLICT_003", "caching.idempotency.response_unavailable");
    assert_eq!(answer.json()["sameKey"], false);
}

/// Waits until the first call's handler runs.
async fn running(server: &Server) {
    until("the handler runs", async || {
        (server.executions("POST /orders").await == 1).then_some(())
    })
    .await;
}

over_both! {
    async fn a_500_is_not_recorded_and_the_retry_runs_and_is_kept(http) {
        let (_files, server, client) = begin(&[], http).await;
        client.send(wish("fail-once")).await.assert_fresh(500);
        let second = client.send(wish("fail-once")).await;
        second.assert_fresh(201);
        client.send(wish("fail-once")).await.assert_replays(&second);
        assert_eq!(server.executions("POST /orders").await, 2);
        assert_eq!(server.orders().await.len(), 1);
    }

    async fn a_call_that_always_fails_runs_each_time_and_leaves_nothing(http) {
        let (_files, server, client) = begin(&[], http).await;
        for _ in 0..3 {
            client.send(wish("fail")).await.assert_fresh(500);
        }
        assert_eq!(server.executions("POST /orders").await, 3);
        assert!(server.orders().await.is_empty());
    }

    async fn a_panic_frees_the_key(http) {
        let (_files, server, client) = begin(&[], http).await;
        client.send(wish("panic")).await.assert_fresh(500);
        let second = client.send(keyboard("k")).await;
        second.assert_fresh(201);
        client.send(wish("panic")).await.assert_replays(&second);
        assert_eq!(server.executions("POST /orders").await, 2);
    }

    async fn a_repeat_of_a_slow_call_waits_for_its_answer(http) {
        let (_files, server, client) = begin(&[], http).await;
        let slow = tokio::spawn({
            let client = client.clone();
            async move { client.send(wish("slow=1s")).await }
        });
        running(&server).await;
        let repeat = client.send(wish("slow=1s")).await;
        let first = slow.await.unwrap();
        first.assert_fresh(201);
        repeat.assert_replays(&first);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn a_repeat_that_waited_long_enough_is_told_to_come_back(http) {
        let (_files, server, client) = begin(&["--wait", "200ms"], http).await;
        let slow = tokio::spawn({
            let client = client.clone();
            async move { client.send(wish("slow=2s")).await }
        });
        running(&server).await;
        let busy = client.send(wish("slow=2s")).await;
        let params = busy.assert_refusal(
            409, "CACHING_CONFLICT_002", "caching.idempotency.in_progress",
        );
        assert_eq!(params["retryAfter"], 5);
        assert_eq!(busy.header("retry-after"), Some("5"));
        assert_eq!(busy.json()["sameKey"], true);
        let first = slow.await.unwrap();
        first.assert_fresh(201);
        client.send(wish("slow=2s")).await.assert_replays(&first);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    /// idempot-js 191: a mismatch is told at once, also while the first call runs.
    async fn another_request_is_refused_without_waiting(http) {
        let (_files, server, client) = begin(&["--wait", "1h"], http).await;
        let slow = tokio::spawn({
            let client = client.clone();
            async move { client.send(wish("slow=2s")).await }
        });
        running(&server).await;
        let other = client.send(wish("slow=2s").body("{}")).await;
        other.assert_refusal(
            422, "CACHING_VALIDATION_003", "caching.idempotency.payload_mismatch",
        );
        assert!(!slow.is_finished(), "it waited for the first call");
        slow.await.unwrap().assert_fresh(201);
    }

    async fn an_answer_within_the_limit_is_replayed_whole(http) {
        let (_files, server, client) = begin(&[], http).await;
        for size in ["64KiB", "256KiB"] {
            let call = || keyboard(size).demo(&format!("big={size}"));
            let first = client.send(call()).await;
            first.assert_fresh(201);
            client.send(call()).await.assert_replays(&first);
        }
        assert_eq!(server.executions("POST /orders").await, 2);
    }

    /// C2: an answer too large to keep is no permission to run again.
    async fn a_larger_answer_comes_whole_once_and_never_runs_again(http) {
        let (_files, server, client) = begin(&[], http).await;
        let first = client.send(wish("big=1MiB")).await;
        first.assert_fresh(201);
        assert_eq!(first.body.len(), 1 << 20);
        assert!(first.body.iter().enumerate().all(|(at, byte)| at % 251 == usize::from(*byte)));
        for _ in 0..2 {
            assert_unavailable(&client.send(wish("big=1MiB")).await);
        }
        assert_eq!(server.executions("POST /orders").await, 1);
        assert_eq!(server.orders().await.len(), 1);
    }

    async fn a_larger_answer_is_replayed_as_its_head_where_that_is_asked_for(http) {
        let (_files, server, client) = begin(&["--oversized", "status"], http).await;
        let first = client.send(wish("big=1MiB")).await;
        first.assert_fresh(201);
        let repeat = client.send(wish("big=1MiB")).await;
        assert!(repeat.is_replay());
        assert_eq!(repeat.status, 201);
        assert_eq!(repeat.header("location"), first.header("location"));
        assert!(repeat.body.is_empty());
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn a_stream_passes_through_and_is_replayed_once_it_is_whole(http) {
        let (_files, server, client) = begin(&[], http).await;
        let first = client.send(wish("stream=20")).await;
        first.assert_fresh(201);
        assert_eq!(first.header("content-type"), Some("text/event-stream"));
        let text = std::str::from_utf8(&first.body).unwrap();
        assert_eq!(text.matches("event: tick\n").count(), 20);

        let repeat = client.send(wish("stream=20")).await;
        assert!(repeat.is_replay(), "{repeat:?}");
        assert_eq!((repeat.status, &repeat.body), (first.status, &first.body));
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn a_business_conflict_is_recorded_like_any_answer(http) {
        let (_files, server, client) = begin(&[], http).await;
        let first = client.send(wish("conflict")).await;
        first.assert_fresh(409);
        assert_eq!(first.json()["code"], "DEMO_SOLD_OUT");
        client.send(wish("conflict")).await.assert_replays(&first);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    /// C9: what belongs to one answer only is not replayed.
    async fn cookies_and_private_headers_are_not_replayed(http) {
        let (_files, server, client) = begin(&[], http).await;
        let mut first = client.send(wish("cookie")).await;
        first.assert_fresh(201);
        assert_eq!(first.all("set-cookie").len(), 2);
        assert_eq!(first.all("x-demo-note"), [b"one", b"two"]);
        assert_eq!(first.all("link").len(), 2);
        for private in ["set-cookie", "x-demo-note"] {
            first.headers.remove(private);
        }
        client.send(wish("cookie")).await.assert_replays(&first);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn an_empty_answer_is_replayed_without_a_body(http) {
        let (_files, server, client) = begin(&[], http).await;
        let first = client.send(wish("empty")).await;
        first.assert_fresh(204);
        let repeat = client.send(wish("empty")).await;
        repeat.assert_replays(&first);
        assert_eq!(repeat.header("content-length"), None, "RFC 9110, 8.6: none with a 204");
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn every_byte_survives(http) {
        let (_files, _server, client) = begin(&[], http).await;
        let first = client.send(wish("binary")).await;
        first.assert_fresh(201);
        assert_eq!(first.body, (0..=255).collect::<Vec<u8>>());
        client.send(wish("binary")).await.assert_replays(&first);
    }

    /// X7, X8: repeated values stay apart, and bytes that are no UTF-8 stay.
    async fn header_values_survive_byte_for_byte(http) {
        let (_files, _server, client) = begin(&[], http).await;
        let first = client.send(wish("headers")).await;
        assert_eq!(first.all("etag"), [b"\"caf\xE9\""]);
        let repeat = client.send(wish("headers")).await;
        assert!(repeat.is_replay());
        assert_eq!(repeat.headers.get("etag"), first.headers.get("etag"));
        assert_eq!(repeat.all("link"), first.all("link"));
    }
}

/// A hundred megabytes pass through without being held.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_very_large_answer_is_not_held_in_memory() {
    use http_body_util::BodyExt;
    for http in [Http::One, Http::Two] {
        let (_files, server, client) = begin(&[], http).await;
        client.send(keyboard("warm").demo("big=1MiB")).await.assert_fresh(201);
        let before = server.peak_memory();
        let mut body = client.open(wish("big=100MiB")).await.unwrap().into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.unwrap().into_data().unwrap().len();
        }
        assert_eq!(length, 100 << 20);
        let extra = server.peak_memory() - before;
        assert!(extra < 4 << 20, "{http:?}: {extra} bytes more than before");
    }
}

/// The first events are there long before the last: nothing is held back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_not_held_back_and_a_repeat_meanwhile_does_not_run() {
    use http_body_util::BodyExt;
    let (_files, server, client) = begin(&[], Http::Two).await;
    let mut stream = client.open(wish("stream=1000")).await.unwrap().into_body();
    let event = stream.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(event.starts_with(b"id: 1\n"));
    assert_unavailable(&client.send(wish("stream=1000")).await);
    drop(stream);
    crate::support::pause(Duration::from_millis(100)).await;
    assert_eq!(server.executions("POST /orders").await, 1);
}
