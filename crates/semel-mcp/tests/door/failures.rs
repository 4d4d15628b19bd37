//! Which answers stand, and which free the key.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult};
use semel::{Code, Guarantee, OnException};
use semel_http::Finality;
use semel_mcp::Failures;
use serde_json::json;

use crate::support::web::{Web, modern};
use crate::support::{Shop, Wire, once, policy, text, tools};

fn declined(text: String) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

/// Fails at its first run in the given way, and then works.
fn failing(
    how: impl Fn(usize) -> Result<CallToolResponse, ErrorData> + Send + Sync + 'static,
) -> Shop {
    let how = Arc::new(how);
    Shop::new(move |asked| {
        let answer =
            if asked.run == 1 { how(1) } else { Ok(text(&format!("order {}", asked.run))) };
        async move { answer }
    })
}

#[tokio::test]
async fn a_result_that_says_it_is_an_error_frees_the_key_by_default() {
    let wire = Wire::to(
        tools(&once()).around(failing(|run| Ok(declined(format!("no stock, run {run}"))))),
    )
    .await;
    assert_eq!(wire.order("k").await.text(), "no stock, run 1");
    assert_eq!(wire.order("k").await.text(), "order 2");
    assert_eq!(wire.order("k").await.text(), "order 2");
}

#[tokio::test]
async fn a_result_that_says_it_is_an_error_stands_where_results_do() {
    let shop = failing(|run| Ok(declined(format!("declined, run {run}"))));
    let wire = Wire::to(tools(&once()).failures(Failures::Results).around(shop)).await;
    let first = wire.order("k").await;
    assert_eq!(first.json()["result"]["isError"], true);
    assert_eq!(wire.order("k").await.bytes(), first.bytes());
}

#[tokio::test]
async fn a_protocol_error_frees_the_key() {
    for failures in [Failures::SuccessOnly, Failures::Results] {
        let shop = failing(|_| Err(ErrorData::internal_error("no stock", None)));
        let wire = Wire::to(tools(&once()).failures(failures).around(shop)).await;
        assert_eq!(wire.order("k").await.error()["message"], "no stock");
        assert_eq!(wire.order("k").await.text(), "order 2");
    }
}

#[tokio::test]
async fn a_protocol_error_stands_where_all_answers_do() {
    for at_most_once in [false, true] {
        let shop = failing(|_| {
            Err(ErrorData::new(rmcp::model::ErrorCode(-7), "cut off", Some(json!({ "a": [1] }))))
        });
        let runs = shop.runs.clone();
        let tools = tools(&once());
        let tools = if at_most_once {
            tools.guarantee(Guarantee::AtMostOnce)
        } else {
            tools.failures(Failures::All)
        };
        let wire = Wire::to(tools.around(shop)).await;
        let first = wire.order("k").await;
        assert_eq!(
            first.error(),
            json!({ "code": -7, "message": "cut off", "data": { "a": [1] } })
        );
        assert_eq!(wire.order("k").await.bytes(), first.bytes());
        assert_eq!(runs.count(), 1);
    }
}

#[tokio::test]
async fn a_rule_of_ones_own_decides_and_its_panic_is_an_answer_that_stands() {
    let rule = Failures::Custom(Arc::new(|answer| match answer {
        Ok(result) if result.is_error == Some(true) => panic!("in the rule"),
        Ok(_) => Finality::Transient,
        Err(_) => Finality::Final,
    }));
    let wire = Wire::to(
        tools(&once()).failures(rule).around(failing(|_| Ok(declined("declined".into())))),
    )
    .await;
    let first = wire.order("k").await;
    assert_eq!(wire.order("k").await.bytes(), first.bytes());
    assert_eq!(wire.order("l").await.text(), "order 2");
    assert_eq!(wire.order("l").await.text(), "order 3");
}

#[tokio::test]
async fn a_panic_is_answered_and_treated_as_the_policy_says() {
    for (on_exception, again) in [
        (OnException::Release, Ok("order 2")),
        (OnException::Record, Err("The tool failed.")),
        (OnException::Doubt, Err("")),
    ] {
        let shop = failing(|_| panic!("in the tool"));
        let policy =
            policy(|policy| policy.guarantee(Guarantee::AtMostOnce).on_exception(on_exception));
        let wire = Wire::to(tools(&once()).policy(policy).around(shop)).await;
        let first = wire.order("k").await;
        assert_eq!(first.error()["message"], "The tool failed.");
        assert_eq!(first.error()["code"], -32603);
        let second = wire.order("k").await;
        match again {
            Ok(order) => assert_eq!(second.text(), order),
            Err("") => drop(second.assert_is(Code::InDoubt)),
            Err(_) => assert_eq!(second.bytes(), first.bytes()),
        }
    }
}

/// A tool that needs more from its caller has not ended: the call that brings it runs, under the
/// same key.
#[tokio::test]
async fn a_tool_that_asks_for_more_has_not_ended_yet() {
    let shop = Shop::new(|asked| async move {
        Ok(match asked.request.input_responses {
            None => CallToolResponse::InputRequired(InputRequiredResult::from_request_state("s")),
            Some(_) => text(&format!("order {}", asked.run)),
        })
    });
    let runs = shop.runs.clone();
    let web = Web::stateless(tools(&once()).around(shop)).await;
    let asking = modern("k", json!({}));
    let telling =
        modern("k", json!({ "inputResponses": { "name": "Alice" }, "requestState": "s" }));
    let first = web.post_modern(asking.clone()).await;
    assert_eq!(first.json()["result"]["resultType"], "input_required", "{first:?}");
    let told = web.post_modern(telling.clone()).await;
    assert_eq!(told.text(), "order 2");
    assert_eq!(web.post_modern(telling).await.bytes(), told.bytes());
    // Begun anew, it is the same wish under the same key.
    assert_eq!(web.post_modern(asking).await.bytes(), told.bytes());
    assert_eq!(runs.count(), 2);
}
