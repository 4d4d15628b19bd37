//! The handler that everything is put around.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{Json, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// `POST /orders`, which takes an order and gives it back with a number.
pub fn router() -> Router {
    let count = Arc::new(AtomicU64::new(0));
    Router::new().route("/orders", post(create)).with_state(count)
}

/// Serves on a free port of loopback until the task is ended.
///
/// # Panics
///
/// Where no port can be had.
pub async fn serve(app: Router) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.expect("served") });
    (address, serving)
}

#[derive(Deserialize)]
struct Order {
    name: String,
    amount: u32,
    note: String,
}

#[derive(Serialize)]
struct Created {
    id: u64,
    name: String,
    amount: u32,
    note: String,
    status: &'static str,
}

async fn create(
    State(count): State<Arc<AtomicU64>>,
    Json(Order { name, amount, note }): Json<Order>,
) -> impl IntoResponse {
    let id = count.fetch_add(1, Ordering::Relaxed);
    let location = [(header::LOCATION, format!("/orders/{id}"))];
    let created = Created { id, name, amount, note, status: "accepted" };
    (StatusCode::CREATED, location, Json(created))
}
