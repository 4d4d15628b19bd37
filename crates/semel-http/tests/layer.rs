//! The layer around a small axum service.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::routing::post;
use http::{Request, Response, StatusCode};
use semel::timer::SystemClock;
use semel::{MemoryStore, Once, Scope};
use semel_http::{IdempotencyLayer, Replayed};
use tower::ServiceExt;

fn once() -> Once {
    Once::new(Arc::new(MemoryStore::new(SystemClock::new())))
}

fn orders(once: Once, runs: Arc<AtomicU32>) -> Router {
    let create = move || {
        let n = runs.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            (StatusCode::CREATED, [("location", format!("/orders/{n}"))], format!("order {n}"))
        }
    };
    Router::new().route("/orders", post(create)).layer(IdempotencyLayer::new(once))
}

fn order(key: &str, body: &'static str) -> Request<Body> {
    let mut request =
        Request::post("/orders").header("idempotency-key", key).body(Body::from(body)).unwrap();
    request.extensions_mut().insert(Scope::new("acme", "alice").unwrap());
    request
}

async fn send(app: &mut Router, request: Request<Body>) -> (Response<()>, String) {
    let response = app.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (Response::from_parts(head, ()), String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_repeat_is_replayed_byte_for_byte_and_marked() {
    let runs = Arc::new(AtomicU32::new(0));
    let mut app = orders(once(), Arc::clone(&runs));
    let (first, body) = send(&mut app, order("\"k-1\"", "{}")).await;
    assert_eq!((first.status(), body.as_str()), (StatusCode::CREATED, "order 1"));
    assert!(!first.headers().contains_key("idempotent-replayed"));
    let (again, body) = send(&mut app, order("k-1", "{}")).await;
    assert_eq!((again.status(), body.as_str()), (StatusCode::CREATED, "order 1"));
    assert_eq!(again.headers()["location"], "/orders/1");
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert!(again.extensions().get::<Replayed>().is_some());
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn another_body_under_the_same_key_is_refused_and_says_what_differs() {
    let runs = Arc::new(AtomicU32::new(0));
    let mut app = orders(once(), Arc::clone(&runs));
    send(&mut app, order("k", "{}")).await;
    let (refused, body) = send(&mut app, order("k", "{\"amount\":3}")).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused.headers()["idempotency-error"], "CACHING_VALIDATION_003");
    assert!(body.contains("\"differs\":[\"body\"]"), "{body}");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}
