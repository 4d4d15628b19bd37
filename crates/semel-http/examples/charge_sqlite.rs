//! Payments that are booked exactly once, in one file: `charge_sqlite FILE [ADDRESS]`.
//!
//! The payment's row and the recorded answer commit in one transaction of SQLite.
//!
//! ```text
//! $ charge_sqlite shop.db &
//! $ curl -i localhost:3000/payments -H 'idempotency-key: order-8812' --json '{"cents": 1999}'
//! HTTP/1.1 201 Created
//! {"number":1,"cents":1999}
//! ```

use std::error::Error;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use semel::{Guarantee, Once};
use semel_http::{Anonymous, IdempotencyLayer};
use semel_sqlite::{SqliteStore, Transactional, Tx};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Payment {
    cents: i64,
}

#[derive(Serialize)]
struct Receipt {
    number: i64,
    cents: i64,
}

/// What is written with `tx` commits together with the answer that is returned here.
async fn charge(
    tx: Tx,
    Json(payment): Json<Payment>,
) -> Result<(StatusCode, Json<Receipt>), StatusCode> {
    let cents = payment.cents;
    let sql = "INSERT INTO payments (cents) VALUES (?1) RETURNING number";
    let booked = tx.with(move |db| db.query_row(sql, [cents], |row| row.get(0))).await;
    match booked {
        Ok(Ok(number)) => Ok((StatusCode::CREATED, Json(Receipt { number, cents }))),
        // Nothing is left of the call, and a retry runs.
        Ok(Err(_)) | Err(_) => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// The service, over the file that its rows are in. All callers share one space of keys here.
pub(crate) async fn app(file: &str) -> Result<Router, Box<dyn Error>> {
    let store = SqliteStore::open(file).await?;
    let transactional = Transactional::new(&store);
    let table = "CREATE TABLE IF NOT EXISTS payments (number INTEGER PRIMARY KEY, cents INT)";
    transactional.connect()?.execute_batch(table)?;
    let once = Once::with_transactions(Arc::new(transactional));
    let layer = IdempotencyLayer::new(once)
        .guarantee(Guarantee::Transactional)
        .anonymous(Anonymous::Shared);
    Ok(Router::new().route("/payments", post(charge)).layer(layer))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: charge_sqlite FILE [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/payments", listener.local_addr()?);
    Ok(axum::serve(listener, app(&file).await?).await?)
}
