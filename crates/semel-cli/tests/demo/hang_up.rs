//! Clients that hang up, at every stage: never two executions, and the retry
//! gets the answer.

use std::time::Duration;

use http_body_util::BodyExt;

use crate::support::{Call, Client, Files, Http, Raw, Server, keyboard, over_both, pause, until};

/// Two ways to leave: with a goodbye, or as if the cable were cut.
#[derive(Debug, Clone, Copy)]
enum Leave {
    Close,
    Cut,
}

async fn leave(raw: Raw, how: Leave) {
    match how {
        Leave::Close => drop(raw),
        Leave::Cut => raw.cut(),
    }
}

/// At every byte of the request, the whole of it included, the client leaves;
/// the retry is then the first or the second to arrive, and never a second effect.
async fn at_every_byte(how: Leave) {
    let (_files, server) = Files::new_server(&[]).await;
    let (whole, _) = Raw::bytes(&keyboard("k000"));
    let client = server.client(Http::One).await;
    for cut in 0..=whole.len() {
        let call = keyboard(&format!("k{cut:03}"));
        let mut raw = Raw::connect(server.at).await;
        raw.write(&Raw::bytes(&call).0[..cut]).await;
        leave(raw, how).await;
        let answer = client.send(call).await;
        assert_eq!(answer.status, 201, "left after {cut} bytes: {answer:?}");
    }
    assert_eq!(server.orders().await.len(), whole.len() + 1);
    assert_eq!(server.executions("POST /orders").await, whole.len() as u64 + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_at_any_byte_of_the_request_has_no_second_effect() {
    at_every_byte(Leave::Close).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cutting_at_any_byte_of_the_request_has_no_second_effect() {
    at_every_byte(Leave::Cut).await;
}

/// X3: an upload that breaks off is no request, and no reason to panic.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_breaks_off_runs_nothing() {
    for how in [Leave::Close, Leave::Cut] {
        let (files, server) = Files::new_server(&[]).await;
        let (bytes, head) = Raw::bytes(&keyboard("k"));
        for cut in [head, head + 1, bytes.len() - 1] {
            let mut raw = Raw::connect(server.at).await;
            raw.write(&bytes[..cut]).await;
            pause(Duration::from_millis(50)).await;
            leave(raw, how).await;
        }
        pause(Duration::from_millis(200)).await;
        assert_eq!(server.executions("POST /orders").await, 0);
        assert!(!files.log().contains("panicked"), "{}", files.log());
        server.client(Http::One).await.send(keyboard("k")).await.assert_fresh(201);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_http_2_that_is_reset_in_its_body_runs_nothing() {
    let (_files, server) = Files::new_server(&[]).await;
    let client = server.client(Http::Two).await;
    let half = tokio::spawn({
        let client = client.clone();
        async move { client.open(keyboard("k").stalling_after(10)).await.map(drop) }
    });
    pause(Duration::from_millis(100)).await;
    half.abort();
    assert!(half.await.unwrap_err().is_cancelled());
    pause(Duration::from_millis(100)).await;
    assert_eq!(server.executions("POST /orders").await, 0);
    client.send(keyboard("k")).await.assert_fresh(201);
}

async fn running(server: &Server) {
    until("the handler runs", async || {
        (server.executions("POST /orders").await == 1).then_some(())
    })
    .await;
}

/// Sends the call, and hangs up as soon as its handler runs.
async fn hang_up_while_it_runs(server: &Server, client: &Client, call: Call) {
    let gone = tokio::spawn({
        let client = client.clone();
        async move { client.open(call).await.map(drop) }
    });
    running(server).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled(), "it was answered before it could hang up");
}

over_both! {
    async fn the_handler_runs_on_when_its_client_hangs_up(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let slow = || keyboard("k").demo("slow=1s");
        hang_up_while_it_runs(&server, &client, slow()).await;
        let retry = client.send(slow()).await;
        assert!(retry.is_replay(), "{retry:?}");
        assert_eq!((retry.status.as_u16(), retry.header("location")), (201, Some("/orders/1")));
        assert_eq!(server.executions("POST /orders").await, 1);
        assert_eq!(server.orders().await.len(), 1);
    }

    async fn nobody_needs_to_come_back_for_the_work_to_end(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        hang_up_while_it_runs(&server, &client, keyboard("k").demo("slow=500ms")).await;
        until("the order is there", async || (server.orders().await.len() == 1).then_some(())).await;
    }

    async fn an_answer_that_was_cut_is_replayed_whole(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let call = || keyboard("k").demo("big=256KiB");
        let mut body = client.open(call()).await.unwrap().into_body();
        body.frame().await.unwrap().unwrap();
        drop(body);
        let retry = client.send(call()).await;
        assert!(retry.is_replay(), "{retry:?}");
        assert_eq!((retry.status.as_u16(), retry.body.len()), (201, 256 << 10));
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn a_large_answer_that_was_cut_never_runs_again(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let call = || keyboard("k").demo("big=100MiB");
        let mut body = client.open(call()).await.unwrap().into_body();
        body.frame().await.unwrap().unwrap();
        drop(body);
        client.send(call()).await.assert_refusal(
            409, "CACHING_CONFLICT_003", "caching.idempotency.response_unavailable",
        );
        assert_eq!(server.executions("POST /orders").await, 1);
        assert_eq!(server.orders().await.len(), 1);
    }

    /// A stream that broke off is never taken for a whole one.
    async fn a_stream_that_was_cut_is_never_replayed_as_if_it_were_whole(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let call = || keyboard("k").demo("stream=40");
        let mut body = client.open(call()).await.unwrap().into_body();
        body.frame().await.unwrap().unwrap();
        drop(body);
        let retry = client.send(call()).await;
        if retry.is_replay() {
            let events = std::str::from_utf8(&retry.body).unwrap().matches("event: tick\n").count();
            assert_eq!(events, 40, "only a whole stream may be replayed");
        } else {
            retry.assert_refusal(
                409, "CACHING_CONFLICT_003", "caching.idempotency.response_unavailable",
            );
        }
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    /// Both the first caller and one that waits leave: the work still ends once.
    async fn a_waiter_that_hangs_up_disturbs_nobody(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let slow = || keyboard("k").demo("slow=1s");
        hang_up_while_it_runs(&server, &client, slow()).await;
        let waiter = tokio::spawn({
            let client = client.clone();
            async move { client.send(slow()).await }
        });
        pause(Duration::from_millis(100)).await;
        waiter.abort();
        let retry = client.send(slow()).await;
        assert!(retry.is_replay(), "{retry:?}");
        assert_eq!(server.executions("POST /orders").await, 1);
    }
}

/// With `cancel` the handler is dropped where it waits, and the key stays held
/// until its lease ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_asked_for_the_handler_ends_with_its_client() {
    let flags =
        ["--on-disconnect", "cancel", "--in-progress-time-to-live", "2s", "--in-flight", "reject"];
    let (_files, server) = Files::new_server(&flags).await;
    let client = server.client(Http::One).await;
    hang_up_while_it_runs(&server, &client, keyboard("k").demo("slow=500ms")).await;
    client.send(keyboard("k")).await.assert_refusal(
        409,
        "CACHING_CONFLICT_002",
        "caching.idempotency.in_progress",
    );
    let retry = until("the lease ends", async || {
        let answer = client.send(keyboard("k")).await;
        (answer.status == 201).then_some(answer)
    })
    .await;
    retry.assert_fresh(201);
    assert_eq!(server.orders().await.len(), 1, "the dropped handler never worked");
}
