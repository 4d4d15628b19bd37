//! The examples do what their pages say.

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use semel_testkit::PostgresServer;

use crate::support::got;

#[path = "../../examples/charge_postgres.rs"]
#[expect(dead_code, reason = "the program itself is not run here")]
mod charge_postgres;

#[path = "../../examples/charge_sqlite.rs"]
#[expect(dead_code, reason = "the program itself is not run here")]
mod charge_sqlite;

fn payment(key: &str, cents: i64) -> Request<Body> {
    Request::post("/payments")
        .header("idempotency-key", key)
        .header("content-type", "application/json")
        .body(Body::from(format!("{{\"cents\": {cents}}}")))
        .unwrap()
}

async fn pays_once_for_each_key(app: Router) {
    for (key, number) in [("order-1", 1), ("order-2", 2)] {
        for is_replay in [false, true, true] {
            let got = got(app.clone(), payment(key, 1999)).await;
            assert_eq!((got.status, got.is_replay()), (StatusCode::CREATED, is_replay), "{got:?}");
            assert_eq!(got.body(), format!("{{\"number\":{number},\"cents\":1999}}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payments_on_a_server_are_booked_once() {
    let server = PostgresServer::launch().await.unwrap();
    server.sql(charge_postgres::TABLE).await.unwrap();
    let app = charge_postgres::app(&server.url()).await.unwrap();
    pays_once_for_each_key(app.clone()).await;
    for is_replay in [false, true] {
        let got = got(app.clone(), payment("nothing", 0)).await;
        let due = (StatusCode::UNPROCESSABLE_ENTITY, is_replay);
        assert_eq!((got.status, got.is_replay()), due, "{got:?}");
    }
    assert_eq!(server.sql("SELECT count(*) FROM payments").await.unwrap(), "2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payments_in_a_file_are_booked_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("shop.db");
    pays_once_for_each_key(charge_sqlite::app(file.to_str().unwrap()).await.unwrap()).await;
}
