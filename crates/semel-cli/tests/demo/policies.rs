//! Presets and single policies, as flags: each changes what a caller sees.

use crate::support::{Answer, Call, Client, Files, Http, Server, keyboard, over_both, until};

async fn begin(flags: &[&str], http: Http) -> (Files, Server, Client) {
    let (files, server) = Files::new_server(flags).await;
    let client = server.client(http).await;
    (files, server, client)
}

fn without_key() -> Call {
    keyboard("k").without("idempotency-key")
}

fn in_baggage() -> Call {
    without_key().add("baggage", "xihan.idempotency-key=k")
}

fn payment() -> Call {
    Call::post("/payments", r#"{"order":1,"amount":2}"#).key("k")
}

fn other_body() -> Call {
    keyboard("k").body(r#"{"name":"Mouse","amount":1}"#)
}

/// A slow first call, and what a repeat gets while it runs.
async fn repeat_meanwhile(server: &Server, client: &Client) -> Answer {
    let slow = keyboard("slow").demo("slow=1s");
    let before = server.executions("POST /orders").await;
    let first = tokio::spawn({
        let (client, slow) = (client.clone(), slow.clone());
        async move { client.send(slow).await }
    });
    until("the handler runs", async || {
        (first.is_finished() || server.executions("POST /orders").await > before).then_some(())
    })
    .await;
    let repeat = client.send(slow).await;
    first.await.unwrap().assert_fresh(201);
    repeat
}

over_both! {
    async fn preset_rest_keeps_keys_apart_by_operation_and_replays_heads(http) {
        let (_files, _server, client) = begin(&["--preset", "rest"], http).await;
        client.send(keyboard("k")).await.assert_fresh(201);
        client.send(payment()).await.assert_fresh(201);
        client.send(in_baggage()).await.assert_refusal(
            400, "CACHING_VALIDATION_002", "caching.idempotency.key_missing",
        );
        let big = || keyboard("big").demo("big=1MiB");
        client.send(big()).await.assert_fresh(201);
        let repeat = client.send(big()).await;
        assert!(repeat.is_replay() && repeat.body.is_empty(), "{repeat:?}");
    }

    async fn preset_xihan_reads_baggage_ignores_bodies_and_does_not_wait(http) {
        let (_files, server, client) = begin(&["--preset", "xihan"], http).await;
        client.send(without_key()).await.assert_fresh(201);
        let first = client.send(in_baggage()).await;
        first.assert_fresh(201);
        let again = client.send(in_baggage().body(r#"{"name":"Mouse","amount":1}"#)).await;
        again.assert_equals(&first);
        assert!(!again.is_replay(), "this preset has no marker");
        // The header is no source of keys here.
        client.send(keyboard("k")).await.assert_fresh(201);
        assert_eq!(server.executions("POST /orders").await, 3);
    }

    async fn preset_stripe_records_failures_and_refuses_other_parameters_with_400(http) {
        let (_files, server, client) = begin(&["--preset", "stripe"], http).await;
        client.send(without_key()).await.assert_fresh(201);
        let failed = client.send(keyboard("k").demo("fail")).await;
        failed.assert_fresh(500);
        client.send(keyboard("k")).await.assert_replays(&failed);
        client.send(other_body()).await.assert_refusal(
            400, "CACHING_VALIDATION_003", "caching.idempotency.payload_mismatch",
        );
        client.send(payment()).await.assert_refusal(
            400, "CACHING_CONFLICT_003", "caching.idempotency.key_reused",
        );
        let panicked = client.send(keyboard("p").demo("panic")).await;
        assert_eq!(panicked.status, 500);
        let replayed = client.send(keyboard("p")).await;
        assert!(replayed.is_replay() && replayed.status == 500, "{replayed:?}");
        assert_eq!(server.executions("POST /orders").await, 3);
    }

    async fn preset_ietf_takes_quoted_keys_only_and_does_not_wait(http) {
        let (_files, server, client) = begin(&["--preset", "ietf"], http).await;
        client.send(without_key().add("idempotency-key", "k")).await.assert_refusal(
            400, "CACHING_VALIDATION_001", "caching.key.invalid",
        );
        let first = client.send(keyboard("k")).await;
        first.assert_fresh(201);
        let again = client.send(keyboard("k")).await;
        again.assert_equals(&first);
        assert!(!again.is_replay(), "this preset has no marker");
        client.send(payment()).await.assert_refusal(
            422, "CACHING_CONFLICT_003", "caching.idempotency.key_reused",
        );
        repeat_meanwhile(&server, &client).await.assert_refusal(
            409, "CACHING_CONFLICT_002", "caching.idempotency.in_progress",
        );
    }

    async fn a_single_policy_wins_over_its_preset(http) {
        let flags = ["--preset", "ietf", "--header-syntax", "lenient", "--replay-marker", "X-Again"];
        let (_files, _server, client) = begin(&flags, http).await;
        let call = || without_key().add("idempotency-key", "k");
        client.send(call()).await.assert_fresh(201);
        assert_eq!(client.send(call()).await.header("x-again"), Some("true"));
    }

    async fn missing_key_optional_lets_calls_through_unprotected(http) {
        let (_files, server, client) = begin(&["--missing-key", "optional"], http).await;
        for _ in 0..2 {
            client.send(without_key()).await.assert_fresh(201);
        }
        assert_eq!(server.orders().await.len(), 2);
    }

    async fn in_flight_reject_answers_at_once(http) {
        let flags = ["--in-flight", "reject", "--retry-after", "off"];
        let (_files, server, client) = begin(&flags, http).await;
        let busy = repeat_meanwhile(&server, &client).await;
        busy.assert_refusal(409, "CACHING_CONFLICT_002", "caching.idempotency.in_progress");
        assert_eq!(busy.header("retry-after"), None);
    }

    async fn more_repeats_than_may_wait_are_answered_at_once(http) {
        let (_files, server, client) = begin(&["--max-waiters-per-key", "1"], http).await;
        let slow = || keyboard("slow").demo("slow=3s");
        let calls: Vec<_> = (0..8)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move { client.send(slow()).await })
            })
            .collect();
        let (mut answered, mut busy) = (0, 0);
        for call in calls {
            let answer = call.await.unwrap();
            match answer.status.as_u16() {
                201 => answered += 1,
                _ => {
                    answer.assert_refusal(
                        409, "CACHING_CONFLICT_002", "caching.idempotency.in_progress",
                    );
                    busy += 1;
                }
            }
        }
        assert_eq!((answered, busy), (2, 6), "the first call and the one that may wait");
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    /// A handler that takes longer than its claim is renewed loses it: a repeat takes over, and
    /// both clients get the answer of whoever did.
    async fn a_call_longer_than_max_execution_is_taken_over(http) {
        let flags = ["--in-progress-time-to-live", "1s", "--max-execution", "1s", "--wait", "30s"];
        let (_files, server, client) = begin(&flags, http).await;
        let first = tokio::spawn({
            let client = client.clone();
            async move { client.send(keyboard("k").demo("slow=4s")).await }
        });
        until("the handler runs", async || {
            (server.executions("POST /orders").await == 1).then_some(())
        })
        .await;
        let second = client.send(keyboard("k")).await;
        second.assert_fresh(201);
        first.await.unwrap().assert_replays(&second);
        assert_eq!(server.executions("POST /orders").await, 2);
    }

    async fn failures_decide_what_is_recorded(http) {
        let (_files, _server, client) = begin(&["--failures", "all"], http).await;
        let failed = client.send(keyboard("k").demo("fail")).await;
        client.send(keyboard("k")).await.assert_replays(&failed);

        let (_files, _server, client) = begin(&["--failures", "success_only"], http).await;
        client.send(keyboard("k").demo("conflict")).await.assert_fresh(409);
        client.send(keyboard("k")).await.assert_fresh(201);
    }

    async fn on_exception_decides_what_a_panic_does(http) {
        let (_files, server, client) = begin(&["--on-exception", "record"], http).await;
        assert_eq!(client.send(keyboard("k").demo("panic")).await.status, 500);
        let replay = client.send(keyboard("k")).await;
        assert!(replay.is_replay() && replay.status == 500, "{replay:?}");
        assert_eq!(server.executions("POST /orders").await, 1);

        let flags = ["--guarantee", "at_most_once"];
        let (_files, server, client) = begin(&flags, http).await;
        assert_eq!(client.send(keyboard("k").demo("panic")).await.status, 500);
        client.send(keyboard("k")).await.assert_refusal(
            409, "CACHING_CONFLICT_004", "caching.idempotency.in_doubt",
        );
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn at_most_once_keeps_failures_too(http) {
        let (_files, server, client) = begin(&["--guarantee", "at_most_once"], http).await;
        let failed = client.send(keyboard("k").demo("fail")).await;
        failed.assert_fresh(500);
        client.send(keyboard("k")).await.assert_replays(&failed);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn the_fingerprint_can_be_narrowed(http) {
        let (_files, _server, client) = begin(&["--fingerprint", "off"], http).await;
        let first = client.send(keyboard("k")).await;
        client.send(other_body()).await.assert_replays(&first);

        let (_files, _server, client) = begin(&["--fingerprint", "$.name"], http).await;
        let first = client.send(keyboard("k")).await;
        first.assert_fresh(201);
        client.send(keyboard("k").body(r#"{"amount":9,"name":"Keyboard"}"#)).await
            .assert_replays(&first);
        client.send(other_body()).await.assert_refusal(
            422, "CACHING_VALIDATION_003", "caching.idempotency.payload_mismatch",
        );
    }

    async fn a_key_format_is_enforced(http) {
        let (_files, _server, client) = begin(&["--key-format", "uuid"], http).await;
        client.send(keyboard("order-1")).await.assert_refusal(
            400, "CACHING_VALIDATION_001", "caching.key.invalid",
        );
        let uuid = "8e03978e-40d5-43e8-bc93-6894a57f9324";
        client.send(keyboard(uuid)).await.assert_fresh(201);
    }

    async fn a_key_older_than_the_retention_is_told_so_where_asked_for(http) {
        let (_files, server, client) = begin(&["--detect-expired"], http).await;
        // Both were made in 2016.
        for old in ["01563df3-6480-7000-8000-000000000000", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            let answer = client.send(keyboard(old)).await;
            let params = answer.assert_refusal(
                400, "CACHING_VALIDATION_004", "caching.idempotency.key_expired",
            );
            assert!(!params["age"].is_null() && !params["limit"].is_null(), "{params}");
        }
        assert_eq!(server.executions("POST /orders").await, 0);
    }

    async fn headers_are_read_in_the_order_that_was_asked_for(http) {
        let flags = ["--header-name", "X-Idempotency-Key", "--header-name", "Idempotency-Key",
                     "--baggage-key", ""];
        let (_files, _server, client) = begin(&flags, http).await;
        let first = client.send(without_key().add("x-idempotency-key", "k")).await;
        first.assert_fresh(201);
        client.send(keyboard("k")).await.assert_replays(&first);
        client.send(in_baggage()).await.assert_refusal(
            400, "CACHING_VALIDATION_002", "caching.idempotency.key_missing",
        );
    }

    async fn max_cached_response_is_the_limit_of_a_replay(http) {
        let (_files, _server, client) = begin(&["--max-cached-response", "10"], http).await;
        client.send(keyboard("k")).await.assert_fresh(201);
        client.send(keyboard("k")).await.assert_refusal(
            409, "CACHING_CONFLICT_003", "caching.idempotency.response_unavailable",
        );
    }

    /// A finished call is forgotten once its time is over.
    async fn after_the_retention_the_key_is_free_again(http) {
        let flags = ["--time-to-live", "3s", "--in-progress-time-to-live", "3s"];
        let (_files, server, client) = begin(&flags, http).await;
        let first = client.send(keyboard("k")).await;
        client.send(keyboard("k")).await.assert_replays(&first);
        until("the record is forgotten", async || {
            (!client.send(keyboard("k")).await.is_replay()).then_some(())
        })
        .await;
        assert_eq!(server.executions("POST /orders").await, 2);
    }
}
