//! A small service behind the layer, and a client of it.

pub(crate) mod bodies;
pub(crate) mod clocks;
pub(crate) mod door;
pub(crate) mod logs;
pub(crate) mod server;
pub(crate) mod store;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use semel::timer::SystemClock;
use semel::{MemoryStore, Once, Policy, PolicyBuilder, Scope};
use semel_http::{HttpSettings, HttpSettingsBuilder};

pub(crate) use door::{Answer, Asked, Door, Work};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Order = Request<Full<Bytes>>;

pub(crate) fn memory() -> MemoryStore {
    MemoryStore::new(SystemClock::new())
}

pub(crate) fn once() -> Once {
    Once::new(Arc::new(memory()))
}

pub(crate) fn policy(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Arc<Policy> {
    Arc::new(change(Policy::builder()).build().unwrap())
}

pub(crate) fn settings(
    change: impl FnOnce(HttpSettingsBuilder) -> HttpSettingsBuilder,
) -> HttpSettings {
    change(HttpSettings::builder()).build().unwrap()
}

pub(crate) fn alice() -> Scope {
    Scope::new("acme", "alice").unwrap()
}

/// A JSON order of Alice's under a key.
pub(crate) fn order(key: &str, body: impl Into<Bytes>) -> Order {
    Request::post("/orders")
        .header("idempotency-key", key)
        .header("content-type", "application/json")
        .extension(alice())
        .body(Full::new(body.into()))
        .unwrap()
}

/// An order without a key.
pub(crate) fn keyless(body: &'static str) -> Order {
    let mut order = order("k", body);
    order.headers_mut().remove("idempotency-key");
    order
}

/// Waits for a condition, as long as it takes; the test's own time limit ends it.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        semel::timer::sleep(Duration::from_millis(1)).await;
    }
}

/// One poll, without anybody to be woken.
pub(crate) fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Lets everything that can go on without the passing of time go on.
pub(crate) async fn let_all_run() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// Polls a future `polls` times, letting all else run in between; its output if it came to one.
pub(crate) async fn polled<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..polls {
        if let Poll::Ready(output) = poll_once(future.as_mut()) {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}
