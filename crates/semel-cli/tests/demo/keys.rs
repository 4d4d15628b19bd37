//! What a key is bound to: its caller, its operation, its request.

use crate::support::{ALICE, Answer, BOB, CAROL, Call, Client, Files, Http, keyboard, over_both};
use serde_json::json;

const PAY: &str = r#"{"order":1,"amount":2}"#;

async fn first(client: &Client) -> Answer {
    let first = client.send(keyboard("k")).await;
    first.assert_fresh(201);
    first
}

over_both! {
    async fn a_call_without_a_key_is_refused(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let call = keyboard("k").without("idempotency-key");
        let answer = server.client(http).await.send(call).await;
        let params = answer.assert_refusal(
            400, "CACHING_VALIDATION_002", "caching.idempotency.key_missing",
        );
        assert_eq!(params["header"], "Idempotency-Key");
        assert_eq!(answer.json()["sameKey"], false);
        assert_eq!(server.executions("POST /orders").await, 0);
    }

    async fn another_request_with_the_key_is_told_what_differs(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let first = first(&client).await;
        for (call, differs) in [
            (keyboard("k").body(r#"{"name":"Mouse","amount":2}"#), json!(["body"])),
            (keyboard("k").path("/orders?gift=1"), json!(["query"])),
            (keyboard("k").set("content-type", "text/plain"), json!(["content-type"])),
            (keyboard("k").body("").path("/orders?a"), json!(["query", "body"])),
        ] {
            let answer = client.send(call).await;
            let params = answer.assert_refusal(
                422, "CACHING_VALIDATION_003", "caching.idempotency.payload_mismatch",
            );
            assert_eq!(params["differs"], differs);
            assert_eq!(answer.json()["sameKey"], false);
            assert!(!answer.json().to_string().contains("Mouse"), "values are never told");
        }
        client.send(keyboard("k")).await.assert_replays(&first);
        assert_eq!(server.executions("POST /orders").await, 1);
    }

    async fn another_operation_with_the_key_is_refused(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let first = first(&client).await;
        let answer = client.send(Call::post("/payments", PAY).key("k")).await;
        let params = answer.assert_refusal(
            409, "CACHING_CONFLICT_003", "caching.idempotency.key_reused",
        );
        assert_eq!(params, json!({"operation": "POST /payments", "recorded": "POST /orders"}));
        client.send(keyboard("k")).await.assert_replays(&first);
        assert_eq!(server.executions("POST /payments").await, 0);
    }

    async fn each_caller_has_its_own_keys(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let mut answers = Vec::new();
        for who in [ALICE, BOB, CAROL] {
            let answer = client.send(keyboard("k").by(who)).await;
            answer.assert_fresh(201);
            answers.push((who, answer));
        }
        for (who, first) in answers {
            client.send(keyboard("k").by(who)).await.assert_replays(&first);
        }
        assert_eq!(server.executions("POST /orders").await, 3);
    }

    /// I5: the same request under a new key is a new order.
    async fn the_same_request_with_another_key_is_another_order(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        client.send(keyboard("a")).await.assert_fresh(201);
        client.send(keyboard("b")).await.assert_fresh(201);
        assert_eq!(server.orders().await.len(), 2);
    }

    /// C8: `"k"` and `k` are one key, and so is the one in the baggage.
    async fn a_key_is_the_same_however_it_is_sent(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let first = first(&client).await;
        let bare = || keyboard("k").without("idempotency-key");
        for call in [
            bare().add("idempotency-key", "k"),
            bare().add("baggage", "xihan.idempotency-key=k"),
            bare().add("baggage", "a=1,xihan.idempotency-key=%6B;ttl=3").add("baggage", "b=2"),
            keyboard("k").add("baggage", "xihan.idempotency-key=k"),
        ] {
            client.send(call).await.assert_replays(&first);
        }
    }

    /// I9: DELETE is covered where it is asked for, and its replay is the first 204.
    async fn a_covered_delete_replays_its_204(http) {
        let (_files, server) = Files::new_server(&["--methods", "POST,DELETE"]).await;
        let client = server.client(http).await;
        first(&client).await;
        let delete = || Call::new(http::Method::DELETE, "/orders/1").key("d");
        let gone = client.send(delete()).await;
        gone.assert_fresh(204);
        client.send(delete()).await.assert_replays(&gone);
        assert_eq!(server.executions("DELETE /orders/{id}").await, 1);
    }

    async fn the_texts_of_a_refusal_follow_accept_language(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let call = |language: &str| {
            keyboard("k").without("idempotency-key").set("accept-language", language)
        };
        let chinese = |text: &serde_json::Value| {
            text.as_str().unwrap().chars().any(|c| ('\u{4E00}'..='\u{9FFF}').contains(&c))
        };
        for (language, expected) in [
            ("zh-Hans", true),
            ("zh-CN,zh;q=0.9,en;q=0.5", true),
            ("en", false),
            ("fr", false),
            ("zh;q=0.1, en;q=0.9", false),
        ] {
            let problem = client.send(call(language)).await.json();
            assert_eq!(chinese(&problem["title"]), expected, "{language}: {problem}");
            assert_eq!(chinese(&problem["detail"]), expected, "{language}: {problem}");
            assert_eq!(problem["code"], "CACHING_VALIDATION_002");
        }
    }

    async fn calls_that_only_read_need_no_key_and_are_never_replayed(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let list = || Call::get("/orders").key("k");
        client.send(list()).await.assert_fresh(200);
        first(&client).await;
        let after = client.send(list()).await;
        after.assert_fresh(200);
        assert_eq!(after.json().as_array().unwrap().len(), 1);
    }
}
