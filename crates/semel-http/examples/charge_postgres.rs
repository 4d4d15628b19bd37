//! Payments that are booked exactly once: `charge_postgres URL [ADDRESS]`.
//!
//! The payment's row and the recorded answer commit in one transaction of PostgreSQL. However often
//! a client asks, and whatever dies in between, there is one row for each key.
//!
//! ```text
//! $ charge_postgres postgres://app:secret@localhost/shop &
//! $ curl -i localhost:3000/payments -H 'idempotency-key: order-8812' --json '{"cents": 1999}'
//! HTTP/1.1 201 Created
//! {"number":1,"cents":1999}
//! $ curl -i localhost:3000/payments -H 'idempotency-key: order-8812' --json '{"cents": 1999}'
//! HTTP/1.1 201 Created
//! idempotent-replayed: true
//! {"number":1,"cents":1999}
//! ```

use std::error::Error;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use semel::{Guarantee, Once, Scope, open_with_transactions};
use semel_http::IdempotencyLayer;
use semel_postgres::{Tx, tokio_postgres};
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

/// What is written with `tx` commits together with the answer that is returned here. An answer of
/// 5xx takes it back.
async fn charge(
    tx: Tx,
    Json(payment): Json<Payment>,
) -> Result<(StatusCode, Json<Receipt>), Failed> {
    if payment.cents <= 0 {
        return Err(Failed::NoAmount);
    }
    let sql = "INSERT INTO payments (cents) VALUES ($1) RETURNING number";
    let number = tx.query_one(sql, &[&payment.cents]).await?.get(0);
    Ok((StatusCode::CREATED, Json(Receipt { number, cents: payment.cents })))
}

enum Failed {
    /// Final: a repeat gets the same answer.
    NoAmount,
    /// Not final: nothing is left of the call, and a retry runs.
    Database(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        match self {
            Self::NoAmount => (StatusCode::UNPROCESSABLE_ENTITY, "an amount is above zero"),
            Self::Database(error) => {
                eprintln!("the database: {error}");
                (StatusCode::INTERNAL_SERVER_ERROR, "the payment failed")
            }
        }
        .into_response()
    }
}

/// Stands for what finds out who is asking.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let scope = Scope::new("acme", "alice").map_err(|_| StatusCode::UNAUTHORIZED)?;
    request.extensions_mut().insert(scope);
    Ok(next.run(request).await)
}

/// The service, over the database that its rows are in.
pub(crate) async fn app(url: &str) -> Result<Router, semel::OpenError> {
    let once = Once::with_transactions(open_with_transactions(url).await?);
    Ok(Router::new()
        .route("/payments", post(charge))
        .layer(IdempotencyLayer::new(once).guarantee(Guarantee::Transactional))
        .layer(from_fn(authenticate)))
}

/// The service's own table. A real one makes it by its migrations.
pub(crate) const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS payments (number bigserial PRIMARY KEY, cents bigint NOT NULL)";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: charge_postgres URL [ADDRESS]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    make_table(&url).await?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/payments", listener.local_addr()?);
    Ok(axum::serve(listener, app(&url).await?).await?)
}

async fn make_table(url: &str) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    let connection = tokio::spawn(connection);
    client.batch_execute(TABLE).await?;
    drop(client);
    connection.await.unwrap_or(Ok(()))
}
