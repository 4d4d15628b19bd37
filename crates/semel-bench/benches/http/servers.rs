//! The handler, alone and behind layers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Json, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Router, body};
use bytes::Bytes;
use parking_lot::Mutex;
use semel::timer::SystemClock;
use semel::{MemoryStore, Once};
use semel_http::{Anonymous, IdempotencyLayer};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bare,
    Naive,
    FirstCalls,
    Replays,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Bare, Self::Naive, Self::FirstCalls, Self::Replays];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare handler",
            Self::Naive => "naive check and store",
            Self::FirstCalls => "first calls",
            Self::Replays => "replays",
        }
    }
}

pub(crate) async fn serve(kind: Kind) -> (SocketAddr, JoinHandle<()>) {
    let app = app(kind);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.expect("served") });
    (address, serving)
}

fn app(kind: Kind) -> Router {
    let count = Arc::new(AtomicU64::new(0));
    let orders = Router::new().route("/orders", post(create)).with_state(count);
    match kind {
        Kind::Bare => orders,
        Kind::Naive => orders.layer(from_fn_with_state(Kept::default(), check_and_store)),
        Kind::FirstCalls | Kind::Replays => {
            let once = Once::new(Arc::new(MemoryStore::new(SystemClock::new())));
            orders.layer(IdempotencyLayer::new(once).anonymous(Anonymous::Shared))
        }
    }
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

// ===== the naive layer =====

/// Answers by key, as such layers are often written: it looks, runs and stores. Two at once both
/// run; nothing tells two requests under one key apart.
type Kept = Arc<Mutex<HashMap<String, (StatusCode, HeaderMap, Bytes)>>>;

async fn check_and_store(State(kept): State<Kept>, request: Request, next: Next) -> Response {
    let key = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok());
    let key = key.unwrap_or_default().to_owned();
    if let Some(answer) = kept.lock().get(&key).cloned() {
        return answer.into_response();
    }
    let (parts, body) = request.into_parts();
    let body = body::to_bytes(body, 1 << 20).await.expect("a body");
    let response = next.run(Request::from_parts(parts, body.into())).await;
    let (head, body) = response.into_parts();
    let body = body::to_bytes(body, 1 << 20).await.expect("a body");
    kept.lock().insert(key, (head.status, head.headers.clone(), body.clone()));
    Response::from_parts(head, body.into())
}
