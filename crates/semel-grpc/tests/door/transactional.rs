//! Record and rows in one commit.

use std::sync::Arc;

use semel::{Guarantee, Once};
use semel_grpc::GrpcFailures;
use semel_sqlite::{SqliteStore, Transactional, Tx};
use tonic::{Code, Response, Status};

use crate::support::{Asked, Running, Shop, over};

struct Books {
    transactional: Transactional,
    once: Once,
    _folder: tempfile::TempDir,
}

impl Books {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("shop.db")).await.unwrap();
        let transactional = Transactional::new(&store);
        let table = "CREATE TABLE orders (run INTEGER)";
        transactional.connect().unwrap().execute_batch(table).unwrap();
        let once = Once::with_transactions(Arc::new(Transactional::new(&store)));
        Self { transactional, once, _folder: folder }
    }

    /// The executions whose rows are there.
    fn rows(&self) -> Vec<i64> {
        let db = self.transactional.connect().unwrap();
        let mut rows = db.prepare("SELECT run FROM orders ORDER BY run").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

/// Writes its row, and then ends so at its first execution.
fn first_ends(code: Code) -> Shop {
    Shop::with(move |asked: Asked| async move {
        let run = i64::try_from(asked.run).unwrap();
        let tx = asked.transaction.as_ref().unwrap().get::<Tx>().unwrap().clone();
        let insert = move |db: &rusqlite::Connection| {
            db.execute("INSERT INTO orders (run) VALUES (?1)", [run]).unwrap()
        };
        tx.with(insert).await.unwrap();
        if asked.run == 1 && code != Code::Ok {
            return Err(Status::new(code, "as the test wants it"));
        }
        Ok(Response::new(asked.placed()))
    })
}

/// What two calls under one key come to: their codes, the executions, and whose rows are there.
async fn twice(code: Code, failures: GrpcFailures) -> ([Code; 2], usize, Vec<i64>) {
    let (books, shop) = (Books::open().await, first_ends(code));
    let layer = over(books.once.clone()).guarantee(Guarantee::Transactional).failures(failures);
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    let call = async || client.create("k").await.map_or_else(|status| status.code(), |_| Code::Ok);
    ([call().await, call().await], shop.runs(), books.rows())
}

#[tokio::test]
async fn rows_commit_with_the_reply_that_is_recorded() {
    let ended = twice(Code::Ok, GrpcFailures::default()).await;
    assert_eq!(ended, ([Code::Ok; 2], 1, vec![1]));
    // As 400 does through HTTP: the handler says what is wrong, and may have written that down.
    let ended = twice(Code::InvalidArgument, GrpcFailures::default()).await;
    assert_eq!(ended, ([Code::InvalidArgument; 2], 1, vec![1]));
}

#[tokio::test]
async fn rows_are_taken_back_with_a_reply_that_frees_the_key() {
    for code in [Code::Internal, Code::Unavailable, Code::Aborted] {
        let ended = twice(code, GrpcFailures::default()).await;
        assert_eq!(ended, ([code, Code::Ok], 2, vec![2]));
    }
}

#[tokio::test]
async fn a_failure_that_is_to_be_final_is_recorded_without_rows() {
    let ended = twice(Code::Internal, GrpcFailures::All).await;
    assert_eq!(ended, ([Code::Internal; 2], 1, vec![]));
}
