//! Over streamable HTTP: keys and scopes that come with the request, and the SDK's own client.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use semel::Code;
use semel_mcp::IdempotentTools;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::web::Web;
use crate::support::{Shop, call, once, text, until};

fn bare() -> Value {
    json!({ "name": "create_order", "arguments": { "sku": "keyboard" } })
}

#[tokio::test]
async fn a_key_may_come_with_the_http_request() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    // Scope: what authentication put into the HTTP request's extensions.
    let web = Web::stateless(IdempotentTools::new(once()).around(shop)).await;
    let first = web.post(&[r#"Idempotency-Key: "k""#], bare()).await;
    assert_eq!(first.text(), "order 1");
    for headers in [
        &["Idempotency-Key: k"][..],
        &["Baggage: xihan.idempotency-key=k"],
        &["Baggage: a=1", "Baggage: xihan.idempotency-key=%6B;p", "Idempotency-Key: k"],
    ] {
        assert_eq!(web.post(headers, bare()).await.bytes(), first.bytes(), "{headers:?}");
    }
    let in_meta = call("k", json!({ "sku": "keyboard" }));
    assert_eq!(web.post(&[], in_meta.clone()).await.bytes(), first.bytes());
    assert_eq!(web.post(&["Idempotency-Key: k"], in_meta.clone()).await.bytes(), first.bytes());
    let error = web.post(&["Idempotency-Key: l"], in_meta).await.assert_is(Code::KeyInvalid);
    assert_eq!(error["data"]["params"]["reason"], "sources-disagree");
    for headers in [
        &["Idempotency-Key: k", "Idempotency-Key: k"][..],
        &["Idempotency-Key: k, l"],
        &["Idempotency-Key: "],
        &["Baggage: xihan.idempotency-key"],
    ] {
        web.post(headers, bare()).await.assert_is(Code::KeyInvalid);
    }
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn refusals_speak_the_language_that_is_asked_for() {
    let web = Web::stateless(
        IdempotentTools::new(once()).key_required_for(["create_order"]).around(Shop::counting()),
    )
    .await;
    let english = web.post(&[], bare()).await.assert_is(Code::KeyMissing);
    let chinese = web.post(&["Accept-Language: zh-CN"], bare()).await.assert_is(Code::KeyMissing);
    assert_eq!(english["message"], english["data"]["detail"]);
    assert_eq!(english["data"]["title"], "An idempotency key is required");
    assert_eq!(chinese["data"]["title"], "缺少幂等键");
}

#[tokio::test]
async fn the_sdks_own_client_is_given_the_same_result_over_http() {
    let shop = Shop::counting();
    let runs = shop.runs.clone();
    let handler = IdempotentTools::new(once()).around(shop);
    let web = Web::with(handler, StreamableHttpServerConfig::default()).await;
    let connect = async |key: &str| {
        let headers = [("idempotency-key".parse().unwrap(), key.parse().unwrap())];
        let config =
            StreamableHttpClientTransportConfig::with_uri(web.url()).custom_headers(headers.into());
        ().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap()
    };
    let order = || CallToolRequestParams::new("create_order");
    let (one, two) = (connect("k").await, connect("k").await);
    let first = one.call_tool(order()).await.unwrap();
    assert_eq!(one.call_tool(order()).await.unwrap(), first);
    assert_eq!(two.call_tool(order()).await.unwrap(), first);
    assert_ne!(connect("l").await.call_tool(order()).await.unwrap(), first);
    assert_eq!(runs.count(), 2);
}

/// The connection ends while the tool works: the SDK cancels the call, and it runs on.
#[tokio::test]
async fn a_client_that_hangs_up_takes_no_call_with_it() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let shop = Shop::new(move |asked| {
        let gate = Arc::clone(&gate);
        async move {
            tokio::select! {
                () = gate.notified() => Ok(text(&format!("order {}", asked.run))),
                () = asked.context.ct.cancelled() => Ok(text("stopped half way")),
            }
        }
    });
    let runs = shop.runs.clone();
    let web = Arc::new(Web::stateless(IdempotentTools::new(once()).around(shop)).await);
    let asking = Arc::clone(&web);
    let hung_up = tokio::spawn(async move { asking.post(&["Idempotency-Key: k"], bare()).await });
    until(|| runs.count() == 1).await;
    hung_up.abort();
    assert!(hung_up.await.unwrap_err().is_cancelled());
    go.notify_one();
    assert_eq!(web.post(&["Idempotency-Key: k"], bare()).await.text(), "order 1");
    assert_eq!(runs.count(), 1);
}
