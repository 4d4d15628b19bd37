//! The order of the stages, claim by claim, with axum.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::post;
use futures_util::future::BoxFuture;
use http::StatusCode;
use semel::timer::SystemClock;
use semel::{MemoryStore, Once, Scope};
use semel_http::{IdempotencyLayer, Pipeline, Replayed, Stage};
use tower::{Layer, Service, ServiceExt};

/// Who was asked, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A stage that writes down its name, whether its answer is a replay, and that refuses where the
/// request asks it to.
async fn stage(
    State((log, name)): State<(Log, &'static str)>,
    mut request: Request,
    next: Next,
) -> Result<Response, StatusCode> {
    log.add(name);
    if request.headers().get("refuse").is_some_and(|by| by == name) {
        return Err(StatusCode::FORBIDDEN);
    }
    if name == "tenant" {
        request.extensions_mut().insert(Scope::new("acme", "alice").unwrap());
    }
    let response = next.run(request).await;
    if response.extensions().get::<Replayed>().is_some() {
        log.add(format!("{name} sees a replay"));
    }
    Ok(response)
}

// ===== A transaction =====

/// Begins before the handler and commits after it, for any body.
#[derive(Clone)]
struct Transaction {
    log: Log,
    /// Commits that are to fail.
    failing: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct InTransaction<S>(S, Transaction);

impl<S> Layer<S> for Transaction {
    type Service = InTransaction<S>;

    fn layer(&self, inner: S) -> InTransaction<S> {
        InTransaction(inner, self.clone())
    }
}

impl<S, B> Service<http::Request<B>> for InTransaction<S>
where
    S: Service<http::Request<B>, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let Transaction { log, failing } = self.1.clone();
        log.add("begin");
        let answer = self.0.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            if !answer.status().is_success() {
                log.add("rollback");
                return Ok(answer);
            }
            let fails =
                failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
            if fails.is_ok() {
                log.add("commit failed");
                let mut failed = Response::new(Body::from("not committed"));
                *failed.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                return Ok(failed);
            }
            log.add("commit");
            Ok(answer)
        })
    }
}

// ===== The service =====

struct Shop {
    app: Router,
    log: Log,
    failing: Arc<AtomicUsize>,
}

fn once() -> Once {
    Once::new(Arc::new(MemoryStore::new(SystemClock::new())))
}

/// All stages, given in an order of no one's choosing.
fn service() -> Shop {
    let (log, failing) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let named = |name| from_fn_with_state((log.clone(), name), stage);
    let pipeline = Pipeline::new()
        .transaction(Transaction { log: log.clone(), failing: Arc::clone(&failing) })
        .validate(named("validate"))
        .authenticate(named("authenticate"))
        .idempotency(IdempotencyLayer::new(once()))
        .authorise(named("authorise"))
        .tenant(named("tenant"));
    assert_eq!(pipeline.stages(), Stage::ALL);
    let handled = log.clone();
    let runs = Arc::new(AtomicUsize::new(0));
    let handler = async move || {
        handled.add("handler");
        format!("order {}", runs.fetch_add(1, Ordering::SeqCst) + 1)
    };
    let app = Router::new().route("/orders", post(handler)).layer(pipeline).layer(named("outside"));
    Shop { app, log, failing }
}

impl Shop {
    async fn send(&self, headers: &[(&'static str, &'static str)]) -> (u16, String) {
        let request = headers
            .iter()
            .fold(Request::post("/orders").header("idempotency-key", "k"), |request, header| {
                request.header(header.0, header.1)
            })
            .body(Body::from("{}"))
            .unwrap();
        let answer = self.app.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), 1 << 16).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn order(&self) -> (u16, String) {
        self.send(&[]).await
    }
}

const OUTER: [&str; 5] = ["outside", "authenticate", "tenant", "authorise", "validate"];

#[tokio::test]
async fn the_order_is_the_same_whatever_the_order_of_the_calls() {
    let service = service();
    assert_eq!(service.order().await, (200, "order 1".to_owned()));
    assert_eq!(service.log.taken(), [&OUTER[..], &["begin", "handler", "commit"]].concat());
}

#[tokio::test]
async fn every_stage_outside_sees_a_replay_and_none_inside_runs() {
    let service = service();
    service.order().await;
    service.log.taken();
    assert_eq!(service.order().await, (200, "order 1".to_owned()));
    let seen = OUTER.iter().rev().map(|name| format!("{name} sees a replay"));
    let expected: Vec<_> = OUTER.iter().map(ToString::to_string).chain(seen).collect();
    assert_eq!(service.log.taken(), expected);
}

#[tokio::test]
async fn what_is_refused_before_idempotency_is_never_recorded() {
    let service = service();
    for by in ["authenticate", "tenant", "authorise", "validate"] {
        assert_eq!(service.send(&[("refuse", by)]).await.0, 403);
        assert!(!service.log.taken().contains(&"begin".to_owned()), "{by}");
    }
    assert_eq!(service.order().await, (200, "order 1".to_owned()));
    service.log.taken();
    // And whoever may not have it any more does not get what was recorded.
    assert_eq!(service.send(&[("refuse", "authorise")]).await, (403, String::new()));
    assert_eq!(service.log.taken(), ["outside", "authenticate", "tenant", "authorise"]);
}

#[tokio::test]
async fn a_commit_that_fails_is_not_recorded_as_a_success() {
    let service = service();
    service.failing.store(1, Ordering::SeqCst);
    assert_eq!(service.order().await, (503, "not committed".to_owned()));
    assert_eq!(service.log.taken()[5..], ["begin", "handler", "commit failed"]);
    // The key is free: the retry runs, commits and is what is recorded.
    assert_eq!(service.order().await, (200, "order 2".to_owned()));
    assert_eq!(service.log.taken()[5..], ["begin", "handler", "commit"]);
    assert_eq!(service.order().await, (200, "order 2".to_owned()));
}

#[tokio::test]
async fn a_layer_for_axums_own_body_is_given_with_one_that_changes_the_body() {
    let log = Log::default();
    let transaction = (
        tower_http::map_request_body::MapRequestBodyLayer::new(Body::new),
        from_fn_with_state((log.clone(), "transaction"), stage),
    );
    let pipeline = Pipeline::new()
        .tenant(from_fn_with_state((log.clone(), "tenant"), stage))
        .idempotency(IdempotencyLayer::new(once()))
        .transaction(transaction);
    let app = Router::new().route("/orders", post(async |body: String| body)).layer(pipeline);
    for _ in 0..2 {
        let request = Request::post("/orders").header("idempotency-key", "k");
        let answer = app.clone().oneshot(request.body(Body::from("7")).unwrap()).await.unwrap();
        assert_eq!(to_bytes(answer.into_body(), 16).await.unwrap(), "7");
    }
    assert_eq!(log.taken(), ["tenant", "transaction", "tenant", "tenant sees a replay"]);
}

#[tokio::test]
async fn any_stage_may_be_left_out_and_the_order_is_printed() {
    async fn pass(request: Request, next: Next) -> Response {
        next.run(request).await
    }
    let none = Pipeline::new();
    assert_eq!(
        none.to_string(),
        "handler (without authenticate, tenant, authorise, validate, idempotency, transaction)"
    );
    let app = Router::new().route("/", post(async || "bare")).layer(none);
    let answer = app.oneshot(Request::post("/").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    let some = Pipeline::default()
        .validate(from_fn::<_, (Request,)>(pass))
        .authenticate(from_fn::<_, (Request,)>(pass));
    assert_eq!(some.stages(), [Stage::Authenticate, Stage::Validate]);
    assert_eq!(format!("{some:?}"), "[Authenticate, Validate]");
    assert_eq!(
        some.to_string(),
        "authenticate > validate > handler (without tenant, authorise, idempotency, transaction)"
    );
}
