//! Whose key it is.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use semel::Scope;
use semel_http::Anonymous;
use semel_mcp::IdempotentTools;
use serde_json::json;

use crate::support::{Shop, Wire, call, once};

fn who(context: &RequestContext<RoleServer>) -> Option<Scope> {
    let name = context.meta.0.0.get("who")?.as_str()?;
    Scope::new("acme", name).ok()
}

#[tokio::test]
async fn the_same_key_of_two_callers_is_two_keys() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let wire = Wire::to(IdempotentTools::new(once()).scope(who).around(shop)).await;
    let of = |name: &str| {
        let mut call = call("k", json!({}));
        call["_meta"]["who"] = json!(name);
        call
    };
    for (name, order) in [("alice", "order 1"), ("bob", "order 2"), ("alice", "order 1")] {
        assert_eq!(wire.tool(of(name)).await.text(), order);
    }
    assert_eq!(runs.count(), 2);
}

#[tokio::test]
async fn nobody_is_a_fault_of_the_server_unless_keys_are_shared() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let engine = once();
    let wire = Wire::to(IdempotentTools::new(engine.clone()).around(shop.clone())).await;
    let error = wire.order("k").await.error();
    assert_eq!(
        (error["code"].as_i64(), error["data"]["sameKey"].as_bool()),
        (Some(-32603), Some(true))
    );
    // Without a key nobody has to be known.
    assert_eq!(wire.tool(json!({ "name": "create_order" })).await.text(), "order 1");
    let shared = IdempotentTools::new(engine).anonymous(Anonymous::Shared);
    let wire = Wire::to(shared.around(shop)).await;
    assert_eq!(wire.order("k").await.text(), "order 2");
    assert_eq!(wire.order("k").await.text(), "order 2");
    assert_eq!(runs.count(), 2);
}

#[tokio::test]
async fn two_wrappers_around_one_handler_are_told_at_the_first_call() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let tools = crate::support::tools(&once());
    let wire = Wire::to(tools.around(tools.around(shop))).await;
    let error = wire.order("k").await.error();
    assert!(error["message"].as_str().unwrap().contains("wait for itself"), "{error}");
    assert_eq!(runs.count(), 0);
}
