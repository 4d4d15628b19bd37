//! Record and rows in one commit.

use semel::Guarantee;
use semel_grpc::GrpcFailures;
use tonic::{Code, Response, Status};

use crate::support::books::{Books, On, insert, on_each};
use crate::support::{Asked, Running, Shop, over};

/// Writes its row, and then ends so at its first execution.
fn first_ends(code: Code) -> Shop {
    Shop::with(move |asked: Asked| async move {
        insert(asked.transaction.as_ref().unwrap(), asked.run).await;
        if asked.run == 1 && code != Code::Ok {
            return Err(Status::new(code, "as the test wants it"));
        }
        Ok(Response::new(asked.placed()))
    })
}

/// What two calls under one key come to: their codes, the executions, and whose rows are there.
async fn twice(on: On, code: Code, failures: GrpcFailures) -> ([Code; 2], usize, Vec<i64>) {
    let (books, shop) = (Books::open(on).await, first_ends(code));
    let layer = over(books.once.clone()).guarantee(Guarantee::Transactional).failures(failures);
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    let call = async || client.create("k").await.map_or_else(|status| status.code(), |_| Code::Ok);
    ([call().await, call().await], shop.runs(), books.rows().await)
}

on_each! {
    rows_commit_with_the_reply_that_is_recorded
    rows_are_taken_back_with_a_reply_that_frees_the_key
    a_failure_that_is_to_be_final_is_recorded_without_rows
}

async fn rows_commit_with_the_reply_that_is_recorded(on: On) {
    let ended = twice(on, Code::Ok, GrpcFailures::default()).await;
    assert_eq!(ended, ([Code::Ok; 2], 1, vec![1]));
    // As 400 does through HTTP: the handler says what is wrong, and may have written that down.
    let ended = twice(on, Code::InvalidArgument, GrpcFailures::default()).await;
    assert_eq!(ended, ([Code::InvalidArgument; 2], 1, vec![1]));
}

async fn rows_are_taken_back_with_a_reply_that_frees_the_key(on: On) {
    for code in [Code::Internal, Code::Unavailable, Code::Aborted] {
        let ended = twice(on, code, GrpcFailures::default()).await;
        assert_eq!(ended, ([code, Code::Ok], 2, vec![2]));
    }
}

async fn a_failure_that_is_to_be_final_is_recorded_without_rows(on: On) {
    let ended = twice(on, Code::Internal, GrpcFailures::All).await;
    assert_eq!(ended, ([Code::Internal; 2], 1, vec![]));
}
