//! Clients that hang up: fullstackhero, caura, khive.

use semel_http::IdempotencyLayer;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::support::{App, Latch, once, order, until};

/// A client hung up, and first the writing of the record was cancelled with it, then the handler
/// itself. (Besides, records were read under another key than they were written under, and nobody
/// noticed that nothing was ever replayed.)
#[tokio::test]
async fn fullstackhero_1333_the_handler_runs_to_its_end_without_its_client() {
    let (engine, latch) = (once(), Latch::shut());
    let app = App::held(&IdempotencyLayer::new(engine.clone()), &latch);
    let gone = app.start(order("k"));
    latch.reached(1).await;
    gone.abort();
    until(async || gone.is_finished()).await;
    assert_eq!((engine.held(), engine.tasks().len()), (1, 1));
    latch.open();
    until(async || engine.tasks().is_empty()).await;
    assert!(app.send(order("k")).await.is_replay());
    assert_eq!(app.runs(), 1);
}

/// The record was lost together with the connection.
#[tokio::test]
async fn caura_1629_a_connection_that_closes_takes_no_record_along() {
    let (engine, latch) = (once(), Latch::shut());
    let app = App::held(&IdempotencyLayer::new(engine.clone()), &latch);
    let mut socket = TcpStream::connect(app.serve().await).await.unwrap();
    let body = r#"{"name":"Keyboard","amount":2}"#;
    let request = format!(
        "POST /orders HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n\
         Idempotency-Key: k\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    latch.reached(1).await;
    drop(socket);
    latch.open();
    until(async || engine.tasks().is_empty()).await;
    let again = app.send(order("k")).await;
    assert_eq!((again.got(), again.is_replay()), ((201, "order 1"), true));
    assert_eq!(app.runs(), 1);
}

/// A client with a short time limit sent the same message three times in a day, for each try ended
/// before the first one was written down.
#[tokio::test]
async fn khive_2091_a_client_that_gives_up_three_times_sends_once() {
    let (engine, latch) = (once(), Latch::shut());
    let app = App::held(&IdempotencyLayer::new(engine.clone()), &latch);
    for _ in 0..3 {
        let impatient = app.start(order("k"));
        latch.reached(1).await;
        until(async || !engine.tasks().is_empty()).await;
        impatient.abort();
        until(async || impatient.is_finished()).await;
    }
    latch.open();
    assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
    assert_eq!(app.runs(), 1);
}
