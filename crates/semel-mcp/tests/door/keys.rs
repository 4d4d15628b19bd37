//! Where a key is read from, and keys that can't be taken.

use semel::{Code, KeyFormat, KeyRule, MissingKey};
use semel_mcp::Tools;
use serde_json::{Value, json};

use crate::support::{Shop, Wire, call, once, policy, tools};

fn with_meta(meta: Value) -> Value {
    let mut call = call("", json!({}));
    call["_meta"] = meta;
    call
}

#[tokio::test]
async fn all_names_in_meta_are_one_key() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).around(shop)).await;
    for meta in [
        json!({ "idempotencyKey": "k" }),
        json!({ "xihan.idempotency-key": "k" }),
        json!({ "idempotencyKey": "k", "xihan.idempotency-key": "k", "other": 1 }),
        json!({ "baggage": "a=1,xihan.idempotency-key=k;p=1" }),
        json!({ "baggage": "xihan.idempotency-key=%6b", "idempotencyKey": "k" }),
    ] {
        assert_eq!(wire.tool(with_meta(meta.clone())).await.text(), "order 1", "{meta}");
    }
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn a_key_that_cannot_be_read_is_never_taken_for_none() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).around(shop)).await;
    for (meta, reason) in [
        (json!({ "idempotencyKey": "a", "xihan.idempotency-key": "b" }), "sources-disagree"),
        (
            json!({ "idempotencyKey": "a", "baggage": "xihan.idempotency-key=b" }),
            "sources-disagree",
        ),
        (json!({ "idempotencyKey": "" }), "empty"),
        (json!({ "idempotencyKey": "  " }), "blank"),
        (json!({ "idempotencyKey": 17 }), "other"),
        (json!({ "idempotencyKey": null }), "other"),
        (json!({ "xihan.idempotency-key": ["k"] }), "other"),
        (json!({ "idempotencyKey": "x".repeat(256) }), "too-long"),
        (json!({ "baggage": "xihan.idempotency-key=" }), "empty"),
        (
            json!({ "baggage": "xihan.idempotency-key=a,xihan.idempotency-key=a" }),
            "baggage-member-twice",
        ),
        (json!({ "baggage": "xihan.idempotency-key=\u{e9}" }), "malformed-baggage"),
    ] {
        let error = wire.tool(with_meta(meta.clone())).await.assert_is(Code::KeyInvalid);
        assert_eq!(error["code"], -32602, "{meta}");
        assert_eq!(error["data"]["params"]["reason"], reason, "{meta}");
        assert_eq!(error["data"]["status"], 400, "{meta}");
    }
    assert_eq!(runs.count(), 0);
}

#[tokio::test]
async fn without_a_key_every_call_runs_unless_one_is_required() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let engine = once();
    let wire = Wire::to(tools(&engine).around(shop.clone())).await;
    for run in 1..=2 {
        assert_eq!(wire.tool(with_meta(json!({}))).await.text(), format!("order {run}"));
    }
    let required = tools(&engine).missing_key(MissingKey::Require);
    let for_this = tools(&engine).key_required_for(["create_order"]);
    for tools in [required, for_this] {
        let wire = Wire::to(tools.around(shop.clone())).await;
        let error = wire.tool(with_meta(json!({}))).await.assert_is(Code::KeyMissing);
        assert_eq!(error["data"]["params"]["header"], "_meta.idempotencyKey");
    }
    assert_eq!(runs.count(), 2);
}

#[tokio::test]
async fn the_rule_of_the_policy_holds_for_keys_here_too() {
    let rule = KeyRule::default().with_format(KeyFormat::Uuid);
    let policy = policy(|policy| policy.key_rule(rule));
    let wire = Wire::to(tools(&once()).policy(policy).around(Shop::counting())).await;
    let error = wire.order("order-1").await.assert_is(Code::KeyInvalid);
    assert_eq!(error["data"]["params"]["reason"], "not-a-uuid");
    let uuid = "8e03978e-40d5-43e8-bc93-6894a57f9324";
    assert_eq!(wire.order(uuid).await.text(), "order 1");
}

#[tokio::test]
async fn a_key_on_a_tool_that_only_reads_is_nothing_to_it() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let engine = once();
    let reading = |key: Value| json!({ "name": "list_orders", "_meta": { "idempotencyKey": key } });
    let wire = Wire::to(tools(&engine).around(shop.clone())).await;
    wire.tool(reading(json!("k"))).await;
    wire.tool(reading(json!(17))).await;
    assert_eq!(runs.count(), 2);
    let wire = Wire::to(tools(&engine).tools(Tools::All).around(shop.clone())).await;
    wire.tool(reading(json!("k"))).await;
    wire.tool(reading(json!("k"))).await;
    assert_eq!(runs.count(), 3);
    let wire = Wire::to(tools(&engine).tools(Tools::only(["list_orders"])).around(shop)).await;
    wire.order("l").await;
    wire.order("l").await;
    assert_eq!(runs.count(), 5);
}
