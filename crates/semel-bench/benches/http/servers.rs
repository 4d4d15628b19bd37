//! The handler, alone and behind layers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Router, body};
use bytes::Bytes;
use parking_lot::Mutex;
use semel::timer::SystemClock;
use semel::{MemoryStore, Once};
use semel_bench::{Keys, orders};
use semel_http::{Anonymous, IdempotencyLayer};
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

    pub(crate) const fn keys(self) -> Keys {
        match self {
            Self::Replays => Keys::Repeated,
            Self::Bare | Self::Naive | Self::FirstCalls => Keys::Fresh,
        }
    }

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
    orders::serve(app(kind)).await
}

fn app(kind: Kind) -> Router {
    let orders = orders::router();
    match kind {
        Kind::Bare => orders,
        Kind::Naive => orders.layer(from_fn_with_state(Kept::default(), check_and_store)),
        Kind::FirstCalls | Kind::Replays => {
            let once = Once::new(Arc::new(MemoryStore::new(SystemClock::new())));
            orders.layer(IdempotencyLayer::new(once).anonymous(Anonymous::Shared))
        }
    }
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
