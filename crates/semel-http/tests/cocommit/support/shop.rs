//! The layer around the handler, over a place.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Extension;
use axum::routing::post;
use http::{HeaderMap, Request, StatusCode};
use semel::core::protocol::Status;
use semel::{Guarantee, Key, Once, Scope, Transactions};
use semel_http::{Anonymous, IdempotencyLayer};
use semel_testkit::eventually;
use tower::ServiceExt;

use super::desk::{How, Plan, book};
use super::place::Place;

/// A place with a door in front of it.
pub(crate) struct Shop<P> {
    pub(crate) place: P,
    pub(crate) once: Once,
    pub(crate) plan: Arc<Plan>,
    pub(crate) app: Router,
}

/// What a client got.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// None where it broke off.
    pub(crate) body: Option<String>,
}

impl Got {
    pub(crate) fn is_replay(&self) -> bool {
        self.headers.contains_key("idempotent-replayed")
    }

    pub(crate) fn code(&self) -> Option<&str> {
        self.headers.get("idempotency-error")?.to_str().ok()
    }

    pub(crate) fn body(&self) -> &str {
        self.body.as_deref().unwrap()
    }
}

impl<P: Place> Shop<P> {
    /// Its handler does as it is told, one request after the other.
    pub(crate) async fn open(hows: &[How]) -> Self {
        Self::open_as(hows, |layer| layer).await
    }

    pub(crate) async fn open_as(
        hows: &[How],
        change: impl FnOnce(IdempotencyLayer) -> IdempotencyLayer,
    ) -> Self {
        let place = P::make().await;
        let transactions = place.transactions().await;
        Self::over(place, transactions, hows, change)
    }

    pub(crate) fn over(
        place: P,
        transactions: Arc<dyn Transactions>,
        hows: &[How],
        change: impl FnOnce(IdempotencyLayer) -> IdempotencyLayer,
    ) -> Self {
        let (once, plan) = (Once::with_transactions(transactions), Plan::of(hows));
        let layer = transactional_layer(once.clone());
        let app = Router::new()
            .route("/bookings", post(book::<P::Tx>))
            .layer(Extension(Arc::clone(&plan)))
            .layer(change(layer));
        Self { place, once, plan, app }
    }

    pub(crate) async fn send(&self, key: &str) -> Got {
        got(self.app.clone(), order(key)).await
    }

    /// How often it was booked; half a booking fails the test.
    pub(crate) async fn booked(&self, key: &str) -> u32 {
        let (first, second) = self.place.legs(key).await;
        assert_eq!(first, second, "half a booking of {key}");
        first
    }

    pub(crate) async fn is_recorded(&self, key: &str) -> bool {
        let key = Key::idempotency(&Scope::anonymous(), key).unwrap();
        match self.once.peek(&key).await.unwrap() {
            Status::Absent => false,
            Status::Done(_) => true,
            other => panic!("it is neither done nor free: {other:?}"),
        }
    }

    /// Rows and record are there together, so often.
    pub(crate) async fn assert_done(&self, key: &str, times: u32) {
        let there = (self.booked(key).await, self.is_recorded(key).await);
        assert_eq!(there, (times, times > 0), "rows and record of {key}");
    }

    /// Until so many handlers have come to wait.
    pub(crate) async fn at_work(&self, handlers: u32) {
        let waits = || self.plan.waits.load(Ordering::SeqCst);
        let limit = Duration::from_secs(30);
        eventually(limit, "handlers at work", || async { (waits() == handlers).then_some(()) })
            .await
            .unwrap();
    }

    pub(crate) fn runs(&self) -> u32 {
        self.plan.runs.load(Ordering::SeqCst)
    }
}

pub(crate) fn transactional_layer(once: Once) -> IdempotencyLayer {
    let layer = IdempotencyLayer::new(once).guarantee(Guarantee::Transactional);
    layer.anonymous(Anonymous::Shared)
}

pub(crate) fn order(key: &str) -> Request<Body> {
    let order = Request::post("/bookings").header("idempotency-key", key);
    order.body(Body::from(key.to_owned())).unwrap()
}

pub(crate) async fn got(app: Router, order: Request<Body>) -> Got {
    let response = app.oneshot(order).await.unwrap();
    let (head, body) = response.into_parts();
    let body = to_bytes(body, 1 << 20).await.ok();
    let body = body.map(|body| String::from_utf8(body.to_vec()).unwrap());
    Got { status: head.status, headers: head.headers, body }
}
