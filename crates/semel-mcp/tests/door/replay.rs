//! One execution for a key, and one answer.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, JsonObject};
use rmcp::model::{RequestMetaObject, RequestParamsMeta};
use semel::{Code, InFlight, Permit};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Shop, Wire, call, once, text, tools};

#[tokio::test]
async fn a_repeat_gets_the_first_result_byte_for_byte_and_runs_nothing() {
    let shop = Shop::new(|asked| async move {
        let content = vec![
            ContentBlock::text(format!("order {} — \u{1F600} \"quoted\"", asked.run)),
            ContentBlock::image("aGVsbG8=", "image/png"),
        ];
        let mut result = CallToolResult::success(content);
        result.structured_content =
            Some(json!({ "z": 1, "a": [1.5, null, -0.0, 1e300], "n": 18446744073709551615u64 }));
        let meta: JsonObject = serde_json::from_value(json!({ "trace": "1", "a": {} })).unwrap();
        result.meta = Some(rmcp::model::MetaObject(meta));
        Ok(result.into())
    });
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).around(shop)).await;
    let first = wire.order("k").await;
    assert!(first.text().starts_with("order 1"), "{first:?}");
    for _ in 0..3 {
        assert_eq!(wire.order("k").await.bytes(), first.bytes());
    }
    assert_eq!(runs.count(), 1);
    assert!(wire.order("other").await.text().starts_with("order 2"));
}

#[tokio::test]
async fn fifty_repeats_at_once_are_one_execution() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let shop = Shop::new(move |asked| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            Ok(text(&format!("order {}", asked.run)))
        }
    });
    let runs = shop.runs.clone();
    let handler = tools(&once()).around(shop);
    // Five sessions of ten calls each.
    let mut calls = Vec::new();
    for _ in 0..5 {
        let wire = Wire::to(handler.clone()).await;
        for _ in 0..10 {
            let wire = wire.clone();
            calls.push(tokio::spawn(async move { wire.order("k").await }));
        }
    }
    go.notify_one();
    let mut answers = std::collections::BTreeSet::new();
    for call in calls {
        answers.insert(call.await.unwrap().bytes().to_owned());
    }
    assert_eq!((answers.len(), runs.count()), (1, 1), "{answers:?}");
}

#[tokio::test]
async fn the_sdks_own_client_is_given_the_same_result() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler = tools(&once()).around(shop);
    tokio::spawn(async move { handler.serve(theirs).await.unwrap().waiting().await });
    let client = ().serve(ours).await.unwrap();
    let order = || {
        let mut order = CallToolRequestParams::new("create_order");
        let meta: JsonObject =
            serde_json::from_value(json!({ "xihan.idempotency-key": "k" })).unwrap();
        order.set_meta(RequestMetaObject(rmcp::model::MetaObject(meta)));
        order
    };
    let first = client.call_tool(order()).await.unwrap();
    assert_eq!(client.call_tool(order()).await.unwrap(), first);
    assert_eq!(runs.count(), 1);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_repeat_in_flight_is_told_when_to_come_back() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let shop = Shop::new(move |_| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            Ok(text("order"))
        }
    });
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).in_flight(InFlight::Reject).around(shop)).await;
    let (_, first) = wire.send("tools/call", call("k", json!({}))).await;
    crate::support::until(|| runs.count() == 1).await;
    let error = wire.tool(call("k", json!({}))).await.assert_is(Code::InProgress);
    assert_eq!(error["code"], -32009);
    assert_eq!(error["data"]["retryAfter"], 5);
    assert_eq!(error["data"]["params"]["retryAfter"], 5);
    go.notify_one();
    assert!(first.await.unwrap().contains("order"));
}

#[tokio::test]
async fn other_arguments_under_the_same_key_are_refused() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).around(shop)).await;
    let first = wire.tool(call("k", json!({ "sku": "keyboard", "count": 1 }))).await;
    // The order of members is none of the arguments' meaning.
    let again = Value::from_iter([("count", json!(1)), ("sku", json!("keyboard"))]);
    assert_eq!(wire.tool(call("k", again)).await.bytes(), first.bytes());
    for other in [
        json!({ "sku": "keyboard", "count": 2 }),
        json!({ "sku": "keyboard" }),
        json!({ "sku": "keyboard", "count": "1" }),
        json!({}),
    ] {
        let error = wire.tool(call("k", other)).await.assert_is(Code::PayloadMismatch);
        assert_eq!(error["code"], -32602);
        assert_eq!(error["data"]["params"]["differs"], json!(["arguments"]));
        assert!(!error.to_string().contains("keyboard"), "{error}");
    }
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn no_arguments_are_none_in_an_object() {
    let wire = Wire::to(tools(&once()).around(Shop::counting())).await;
    let mut bare = call("k", json!({}));
    bare.as_object_mut().unwrap().remove("arguments");
    let first = wire.tool(bare).await;
    assert_eq!(wire.tool(call("k", json!({}))).await.bytes(), first.bytes());
}

#[tokio::test]
async fn another_tool_under_the_same_key_is_refused() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).operation("pay", "payments.charge").around(shop)).await;
    wire.order("k").await;
    let mut other = call("k", json!({ "sku": "keyboard" }));
    other["name"] = json!("pay");
    let error = wire.tool(other).await.assert_is(Code::KeyReused);
    assert_eq!(error["data"]["params"]["operation"], "payments.charge");
    assert_eq!(error["data"]["params"]["recorded"], "tools/call/create_order");
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn a_marker_is_put_on_replays_where_one_is_named() {
    let wire = Wire::to(tools(&once()).replay_marker("replayed").around(Shop::counting())).await;
    let first = wire.order("k").await;
    assert!(first.json()["result"]["_meta"].is_null());
    let again = wire.order("k").await;
    assert_eq!(again.json()["result"]["_meta"], json!({ "replayed": true }));
    assert_eq!(again.text(), first.text());
}

#[tokio::test]
async fn a_tool_finds_its_permit_and_derives_the_same_key_on_every_try() {
    let shop = Shop::new(|asked| async move {
        let permit = asked.context.extensions.get::<Permit>().unwrap();
        assert!(permit.fence().get() > 0 && permit.attempt() == 1);
        let derived = permit.derive("psp");
        if asked.run == 1 {
            Err(rmcp::ErrorData::internal_error(derived, None))
        } else {
            Ok(text(&derived))
        }
    });
    let wire = Wire::to(tools(&once()).around(shop)).await;
    let first = wire.order("k").await.error();
    let second = wire.order("k").await;
    assert_eq!(first["message"], second.text());
}
