//! Answers that are hard to keep, and stores that can't be reached.

use bytes::Bytes;
use rmcp::model::{CallToolResult, ContentBlock};
use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::{Begun, Call, Code, Extent, Finished, Form, Operation, Outcome, StoreDown};
use semel_http::Fingerprint;
use serde_json::json;

use crate::support::{Shop, Wire, alice, call, down, faulty, once, policy, text, tools};

#[tokio::test]
async fn a_result_over_the_limit_is_given_once_and_never_runs_again() {
    let shop = Shop::new(|_| async { Ok(text(&"x".repeat(300))) });
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).max_cached_result(256).around(shop)).await;
    assert_eq!(wire.order("k").await.text().len(), 300);
    for _ in 0..2 {
        wire.order("k").await.assert_is(Code::ResponseUnavailable);
    }
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn arguments_over_the_limit_are_refused_before_anything_runs() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).max_arguments(64).around(shop)).await;
    let error =
        wire.tool(call("k", json!({ "note": "x".repeat(64) }))).await.assert_is(Code::BodyTooLarge);
    assert_eq!(error["data"]["params"]["limit"], 64);
    assert_eq!(runs.count(), 0);
    // The key is as free as before.
    assert_eq!(wire.order("k").await.text(), "order 1");
}

#[tokio::test]
async fn the_form_of_a_record_is_for_good() {
    let result = CallToolResult::success(vec![ContentBlock::text("done")]);
    let shop = Shop::new(move |_| {
        let result = result.clone();
        async move { Ok(result.into()) }
    });
    let engine = once();
    let wire = Wire::to(tools(&engine).around(shop)).await;
    wire.order("k").await;
    let key = semel::Key::new("idem:acme:alice:k").unwrap();
    let status = engine.peek(&key).await.unwrap();
    let semel::core::protocol::Status::Done(Outcome { form, extent, payload }) = status else {
        panic!("{status:?}")
    };
    assert_eq!((form, extent), (Form::Mcp, Extent::Whole));
    assert_eq!(
        std::str::from_utf8(&payload).unwrap(),
        r#"{"result":{"resultType":"complete","content":[{"type":"text","text":"done"}],"isError":false}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_stops_the_work_unless_the_policy_says_otherwise() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let (store, engine) = faulty();
    down(&store);
    let wire = Wire::to(tools(&engine).around(shop.clone())).await;
    let error = wire.order("k").await.assert_is(Code::StoreUnavailable);
    assert_eq!((error["code"].as_i64(), runs.count()), (Some(-32003), 0));
    let open = policy(|policy| policy.store_down(StoreDown::Open));
    let wire = Wire::to(tools(&engine).policy(open).around(shop)).await;
    let answer = wire.order("k").await;
    assert_eq!(answer.text(), "order 1");
    assert_eq!(answer.json()["result"]["_meta"], json!({ "idempotencyUnprotected": true }));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_could_not_be_recorded_yet_says_so_and_is_recorded_later() {
    let (store, engine) = faulty();
    let wire = Wire::to(tools(&engine).around(Shop::counting())).await;
    store.next(StoreOp::Swap, FaultAction::Pass);
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    let first = wire.order("k").await;
    assert_eq!(first.text(), "order 1");
    assert_eq!(first.json()["result"]["_meta"], json!({ "idempotencyDurable": false }));
    engine.drain(std::time::Duration::from_secs(60)).await;
    let again = wire.order("k").await;
    assert_eq!(again.text(), "order 1");
    assert!(again.json()["result"]["_meta"].is_null());
}

/// Another door's record under the same operation: its form is none of ours, and no answer is made
/// up from it.
#[tokio::test]
async fn a_record_of_another_door_is_key_reused() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let engine = once();
    let elsewhere: i64 = engine
        .call("k")
        .scope(alice())
        .operation("orders.create")
        .run(async |_| Ok::<_, ()>(17))
        .await
        .unwrap();
    assert_eq!(elsewhere, 17);
    let tools = tools(&engine).operation("create_order", "orders.create");
    let wire = Wire::to(tools.fingerprint(Fingerprint::Off).around(shop)).await;
    let error = wire.order("k").await.assert_is(Code::KeyReused);
    assert_eq!(error["data"]["params"]["operation"], "orders.create");
    assert_eq!(error["data"]["params"]["recorded"], "orders.create (through another door)");
    assert_eq!(runs.count(), 0);
}

/// What somebody settled by hand is no door's.
#[tokio::test]
async fn a_call_that_was_settled_by_hand_is_told_as_unavailable() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let engine = once();
    let operation = Operation::new("tools/call/create_order").unwrap();
    let call = Call::new(&engine.default_policy(), &alice(), "k", operation).unwrap();
    let Begun::Fresh(mut claim) = engine.begin(&call).await else { panic!("the key is free") };
    let by_hand = Outcome { form: Form::Bytes, extent: Extent::Partial, payload: Bytes::new() };
    assert!(matches!(claim.record(by_hand).await, Finished::Recorded));
    let wire = Wire::to(tools(&engine).around(shop)).await;
    wire.order("k").await.assert_is(Code::ResponseUnavailable);
    assert_eq!(runs.count(), 0);
}

#[tokio::test]
async fn fingerprints_are_taken_as_the_setting_says() {
    let engine = once();
    let ask = |key: &str, sku: &str, at: u64| call(key, json!({ "sku": sku, "at": at }));
    let off = tools(&engine).fingerprint(Fingerprint::Off).around(Shop::counting());
    let wire = Wire::to(off).await;
    assert_eq!(wire.tool(ask("a", "x", 1)).await.text(), "order 1");
    assert_eq!(wire.tool(ask("a", "y", 2)).await.text(), "order 1");
    let selected = Fingerprint::select(["$.sku"]).unwrap();
    let wire = Wire::to(tools(&engine).fingerprint(selected).around(Shop::counting())).await;
    assert_eq!(wire.tool(ask("b", "x", 1)).await.text(), "order 1");
    assert_eq!(wire.tool(ask("b", "x", 2)).await.text(), "order 1");
    let error = wire.tool(ask("b", "y", 1)).await.assert_is(Code::PayloadMismatch);
    assert_eq!(error["data"]["params"]["differs"], json!(["$.sku"]));
    let error = wire.tool(call("c", json!({ "at": 1 }))).await.assert_is(Code::KeyInvalid);
    assert_eq!(error["data"]["params"]["reason"], "selection-empty");
}
