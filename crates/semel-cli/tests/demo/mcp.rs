//! The tools of the demo, over streamable HTTP.

use std::collections::BTreeSet;

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Value, json};

use crate::support::{ALICE, Answer, CAROL, Call, Client, Files, Http, Server, keyboard, until};

/// A tool's call under a key.
fn tool(name: &str, key: &str, arguments: Value) -> Call {
    let params =
        json!({ "name": name, "arguments": arguments, "_meta": { "idempotencyKey": key } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    Call::post("/mcp", &body.to_string())
        .set("accept", "application/json, text/event-stream")
        .set("mcp-protocol-version", "2025-06-18")
}

fn order(key: &str) -> Call {
    tool("create_order", key, json!({ "name": "Keyboard", "amount": 2 }))
}

/// The result as structured JSON.
fn structured(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert!(json["result"].is_object(), "{json}");
    json["result"]["structuredContent"].clone()
}

async fn started(flags: &[&str]) -> (Files, Server, Client) {
    let (files, server) = Files::new_server(flags).await;
    let client = server.client(Http::One).await;
    (files, server, client)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_is_the_first_answer_byte_for_byte_and_makes_no_second_order() {
    let (_files, server, client) = started(&[]).await;
    let first = client.send(order("k")).await;
    assert_eq!(structured(&first)["name"], "Keyboard");
    for _ in 0..3 {
        assert_eq!(client.send(order("k")).await.body, first.body);
    }
    let other = tool("create_order", "k", json!({ "name": "Mouse", "amount": 2 }));
    let refused = client.send(other).await.json();
    assert_eq!(refused["error"]["data"]["code"], "CACHING_VALIDATION_003");
    let paying = json!({ "order": 1, "amount": 2 });
    let refused = client.send(tool("create_payment", "k", paying.clone())).await.json();
    assert_eq!(refused["error"]["data"]["messageKey"], "caching.idempotency.key_reused");
    let paid = client.send(tool("create_payment", "p", paying.clone())).await;
    assert_eq!(client.send(tool("create_payment", "p", paying)).await.body, paid.body);
    let listed = structured(&client.send(tool("list_orders", "-", json!({}))).await);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let shown = structured(&client.send(tool("get_order", "-", json!({ "id": 1 }))).await);
    assert_eq!(shown, listed["items"][0]);
    let counts = structured(&client.send(tool("executions", "-", json!({}))).await);
    assert_eq!((&counts["POST /orders"], &counts["POST /payments"]), (&json!(1), &json!(1)));
    assert_eq!(server.executions("POST /orders").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_repeats_at_once_make_one_order() {
    let (_files, server, client) = started(&[]).await;
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.send(order("k").demo("slow=200ms")).await })
        })
        .collect();
    let mut answers = BTreeSet::new();
    for call in calls {
        answers.insert(call.await.unwrap().body);
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(server.executions("POST /orders").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_is_answered_again_after_kill_9() {
    let (files, server, client) = started(&["--in-progress-time-to-live", "1s"]).await;
    let first = client.send(order("k")).await;
    // Another one is at work when the process dies.
    let dying = tokio::spawn(async move { client.try_send(order("d").demo("slow=20s")).await });
    until("the second handler runs", async || {
        (server.executions("POST /orders").await == 2).then_some(())
    })
    .await;
    server.kill().await;
    assert!(dying.await.unwrap().is_err());
    let server = files.start(&["--in-progress-time-to-live", "1s"]).await;
    let client = server.client(Http::One).await;
    assert_eq!(client.send(order("k")).await.body, first.body);
    // Its lease is waited for, and the next caller takes over.
    let again = client.send(order("d").demo("slow=1ms")).await;
    assert_eq!(structured(&again)["name"], "Keyboard");
    assert_eq!(client.send(order("d")).await.body, again.body);
    assert_eq!(server.orders().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_free_the_key_and_answers_that_stand_do_not() {
    let (_files, server, client) = started(&[]).await;
    let failed = client.send(order("k").demo("fail-once")).await;
    assert_eq!(structured(&failed)["status"], 500);
    assert_eq!(failed.json()["result"]["isError"], true);
    assert_eq!(structured(&client.send(order("k").demo("fail-once")).await)["name"], "Keyboard");
    let panicked = client.send(order("p").demo("panic")).await;
    assert_eq!(panicked.json()["error"]["code"], -32603);
    assert_eq!(structured(&client.send(order("p")).await)["name"], "Keyboard");
    let conflict = client.send(order("c").demo("conflict")).await;
    assert_eq!(structured(&conflict)["code"], "DEMO_SOLD_OUT");
    assert_eq!(client.send(order("c")).await.body, conflict.body);
    let judged = client.send(tool("create_order", "j", json!({ "name": " ", "amount": 0 }))).await;
    assert_eq!(structured(&judged)["errors"].as_array().unwrap().len(), 2);
    assert_eq!(server.executions("POST /orders").await, 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_belong_to_accounts_and_to_one_door() {
    let (_files, server, client) = started(&[]).await;
    assert_eq!(client.send(order("k").without("authorization")).await.status, 401);
    let alices = structured(&client.send(order("k")).await);
    let carols = structured(&client.send(order("k").by(CAROL)).await);
    assert_ne!(alices["id"], carols["id"]);
    // The same key on the same service's other door is another operation's.
    let params = client.send(keyboard("k")).await;
    let params =
        params.assert_refusal(409, "CACHING_CONFLICT_003", "caching.idempotency.key_reused");
    assert_eq!(params["recorded"], "tools/call/create_order");
    client.send(keyboard("h")).await.assert_fresh(201);
    let refused = client.send(order("h")).await.json();
    assert_eq!(refused["error"]["data"]["params"]["recorded"], "POST /orders");
    assert_eq!(server.executions("POST /orders").await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_come_in_headers_too_and_calls_without_one_run_each_time() {
    let (_files, server, client) = started(&[]).await;
    let bare = || {
        let mut call = order("k");
        call.body = String::from_utf8(call.body.to_vec())
            .unwrap()
            .replace(r#""idempotencyKey":"k""#, r#""other":"k""#)
            .into();
        call
    };
    let first = client.send(bare().key("k")).await;
    assert_eq!(client.send(order("k")).await.body, first.body);
    let baggage = bare().set("baggage", "xihan.idempotency-key=k");
    assert_eq!(client.send(baggage).await.body, first.body);
    client.send(bare()).await;
    client.send(bare()).await;
    assert_eq!(server.executions("POST /orders").await, 3);
}

async fn sdk(server: &Server, headers: &[(&str, &str)]) -> RunningService<RoleClient, ()> {
    let authorization = format!("ApiKey {ALICE}");
    let headers = headers
        .iter()
        .chain([&("authorization", authorization.as_str())])
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", server.at))
        .custom_headers(headers);
    ().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sdks_own_client_lists_and_calls_the_tools() {
    let (_files, server, _) = started(&[]).await;
    let client = sdk(&server, &[("idempotency-key", "k")]).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    let known = ["create_order", "create_payment", "executions", "get_order", "list_orders"];
    assert_eq!(names, BTreeSet::from(known));
    let order = || {
        let arguments = json!({ "name": "Keyboard", "amount": 2 });
        let arguments = arguments.as_object().unwrap().clone();
        CallToolRequestParams::new("create_order").with_arguments(arguments)
    };
    let first = client.call_tool(order()).await.unwrap();
    assert_eq!(client.call_tool(order()).await.unwrap(), first);
    let ServiceError::McpError(error) = client
        .call_tool(
            CallToolRequestParams::new("create_payment")
                .with_arguments(json!({ "order": 1, "amount": 1 }).as_object().unwrap().clone()),
        )
        .await
        .unwrap_err()
    else {
        panic!("no error of the protocol")
    };
    assert_eq!(error.data.unwrap()["code"], "CACHING_CONFLICT_003");
    assert_eq!(server.executions("POST /orders").await, 1);
}
