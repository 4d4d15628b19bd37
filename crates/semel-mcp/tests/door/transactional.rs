//! Record and rows in one commit.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult};
use semel::{Guarantee, TransactionHandle};
use semel_mcp::Failures;
use serde_json::json;
use tokio::sync::Notify;

use crate::support::books::{self, Books, On, on_each};
use crate::support::shop::Asked;
use crate::support::web::{Web, modern};
use crate::support::{Reply, Shop, Wire, call, once, text, tools};

/// How a tool ends that has written its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Well,
    WithAResultThatIsAnError,
    WithAnError,
    ByAPanic,
    AskingForMore,
}

impl End {
    fn of(self, run: usize) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::Well => Ok(text(&format!("order {run}"))),
            Self::WithAResultThatIsAnError => {
                Ok(CallToolResult::error(vec![ContentBlock::text("no stock")]).into())
            }
            Self::WithAnError => Err(ErrorData::internal_error("no stock", None)),
            Self::ByAPanic => panic!("in the tool"),
            Self::AskingForMore => Ok(InputRequiredResult::from_request_state("s").into()),
        }
    }
}

/// Writes its row, and then ends so at its first execution.
fn first_ends(end: End) -> Shop {
    Shop::new(move |asked| async move {
        insert(&asked).await;
        if asked.run == 1 { end.of(1) } else { End::Well.of(asked.run) }
    })
}

async fn insert(asked: &Asked) {
    let transaction = asked.context.extensions.get::<TransactionHandle>().unwrap();
    books::insert(transaction, asked.run).await;
}

/// What calls under one key come to.
struct Came {
    replies: [Reply; 3],
    runs: usize,
    /// The executions whose rows are there.
    rows: Vec<i64>,
}

async fn thrice(on: On, end: End, failures: Failures) -> Came {
    let (books, shop) = (Books::open(on).await, first_ends(end));
    let runs = shop.runs.clone();
    let tools = tools(&books.once).guarantee(Guarantee::Transactional).failures(failures);
    let wire = Wire::to(tools.around(shop)).await;
    let replies = [wire.order("k").await, wire.order("k").await, wire.order("k").await];
    Came { replies, runs: runs.count(), rows: books.rows().await }
}

on_each! {
    a_row_commits_with_the_result_that_is_recorded_and_repeats_add_none
    repeats_at_once_are_one_row_and_none_is_seen_before_the_tool_has_ended
    a_row_is_taken_back_when_the_tool_fails_and_the_retry_runs
    a_failure_that_is_to_be_final_is_recorded_without_rows
    a_row_is_taken_back_when_the_tool_asks_for_more
}

async fn a_row_commits_with_the_result_that_is_recorded_and_repeats_add_none(on: On) {
    let came = thrice(on, End::Well, Failures::default()).await;
    assert_eq!(came.replies[0].text(), "order 1");
    for again in &came.replies[1..] {
        assert_eq!(again.bytes(), came.replies[0].bytes());
    }
    assert_eq!((came.runs, came.rows), (1, vec![1]));
}

/// Repeats that come while the row is written and its transaction is open.
async fn repeats_at_once_are_one_row_and_none_is_seen_before_the_tool_has_ended(on: On) {
    let books = Books::open(on).await;
    let (written, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (writes, gate) = (Arc::clone(&written), Arc::clone(&go));
    let shop = Shop::new(move |asked| {
        let (writes, gate) = (Arc::clone(&writes), Arc::clone(&gate));
        async move {
            insert(&asked).await;
            writes.notify_one();
            gate.notified().await;
            End::Well.of(asked.run)
        }
    });
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&books.once).guarantee(Guarantee::Transactional).around(shop)).await;
    let mut replies = Vec::new();
    for _ in 0..10 {
        replies.push(wire.send("tools/call", call("k", json!({}))).await.1);
    }
    written.notified().await;
    wire.ask("ping", json!({})).await;
    assert_eq!(books.rows().await, Vec::<i64>::new());
    go.notify_one();
    for reply in replies {
        assert_eq!(Reply::of(reply.await.unwrap()).text(), "order 1");
    }
    assert_eq!((runs.count(), books.rows().await), (1, vec![1]));
}

async fn a_row_is_taken_back_when_the_tool_fails_and_the_retry_runs(on: On) {
    for end in [End::WithAResultThatIsAnError, End::WithAnError, End::ByAPanic] {
        let came = thrice(on, end, Failures::default()).await;
        let first = came.replies[0].json();
        assert_eq!(first["result"]["isError"] == true, end == End::WithAResultThatIsAnError);
        assert_eq!(first["error"].is_object(), end != End::WithAResultThatIsAnError, "{end:?}");
        assert_eq!(came.replies[1].text(), "order 2", "{end:?}");
        assert_eq!(came.replies[2].bytes(), came.replies[1].bytes());
        assert_eq!((came.runs, came.rows), (2, vec![2]), "{end:?}");
    }
}

async fn a_failure_that_is_to_be_final_is_recorded_without_rows(on: On) {
    for (end, failures) in
        [(End::WithAResultThatIsAnError, Failures::Results), (End::WithAnError, Failures::All)]
    {
        let came = thrice(on, end, failures).await;
        assert!(came.replies[0].bytes().contains("no stock"), "{end:?}");
        for again in &came.replies[1..] {
            assert_eq!(again.bytes(), came.replies[0].bytes());
        }
        assert_eq!((came.runs, came.rows), (1, vec![]), "{end:?}");
    }
}

/// What a tool wrote before it asked is not what it wrote when it had been told.
async fn a_row_is_taken_back_when_the_tool_asks_for_more(on: On) {
    let (books, shop) = (Books::open(on).await, first_ends(End::AskingForMore));
    let tools = tools(&books.once).guarantee(Guarantee::Transactional);
    let web = Web::stateless(tools.around(shop)).await;
    let asked = web.post_modern(modern("k", json!({}))).await;
    assert_eq!(asked.json()["result"]["resultType"], "input_required", "{asked:?}");
    assert_eq!(books.rows().await, Vec::<i64>::new());
    let told = json!({ "inputResponses": { "name": "Alice" }, "requestState": "s" });
    assert_eq!(web.post_modern(modern("k", told)).await.text(), "order 2");
    assert_eq!(books.rows().await, [2]);
}

#[test]
#[should_panic(expected = "make it by Once::with_transactions")]
fn an_engine_without_transactions_is_found_out_at_set_up() {
    drop(tools(&once()).guarantee(Guarantee::Transactional));
}
