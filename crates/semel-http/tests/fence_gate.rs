//! The layer that refuses requests of holders who have lost their lock.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use semel::core::Refusal;
use semel::timer::SystemClock;
use semel::{Fence, Gate, GateAnswer, GateError, MemoryStore, Once, StoreError, StoreGate};
use semel_http::{
    Anonymous, FenceLayer, FenceResource, IdempotencyLayer, LOCK_FENCE, LOCK_RESOURCE,
    MissingFence, RequestBody, ResponseBody, ShownFence, add_lock_fence, add_lock_resource,
};
use serde_json::Value;
use tower::{Layer, ServiceBuilder, ServiceExt};

type Body = Full<Bytes>;

/// How often the handler ran, and with which fence last.
#[derive(Clone, Default)]
struct Runs(Arc<(AtomicU64, AtomicU64)>);

impl Runs {
    fn count(&self) -> u64 {
        self.0.0.load(Ordering::SeqCst)
    }

    fn last_fence(&self) -> u64 {
        self.0.1.load(Ordering::SeqCst)
    }

    fn run<B>(&self, request: &Request<B>) -> Response<Body> {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        if let Some(shown) = request.extensions().get::<ShownFence>() {
            self.0.1.store(shown.fence.get(), Ordering::SeqCst);
        }
        Response::new(Body::from("done"))
    }
}

fn gate() -> StoreGate {
    StoreGate::new(Arc::new(MemoryStore::new(SystemClock::new())))
}

fn orders() -> FenceResource {
    FenceResource::named("orders")
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn problem(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/problem+json");
        serde_json::from_slice(&self.body).unwrap()
    }
}

async fn answer(response: Response<ResponseBody<Body>>) -> Answer {
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: head.status, headers: head.headers, body }
}

async fn asked(layer: &FenceLayer, runs: &Runs, request: Request<Body>) -> Answer {
    let runs = runs.clone();
    let service = layer.layer(tower::service_fn(move |request: Request<Body>| {
        let response = runs.run(&request);
        async move { Ok::<_, Infallible>(response) }
    }));
    answer(service.oneshot(request).await.unwrap()).await
}

fn post(path: &str, fence: u64) -> Request<Body> {
    let mut request = Request::post(path).body(Body::default()).unwrap();
    add_lock_fence(request.headers_mut(), Fence::new(fence));
    request
}

#[tokio::test]
async fn a_smaller_fence_is_a_409_and_an_equal_or_larger_one_passes() {
    let (layer, runs) = (FenceLayer::new(gate(), orders()), Runs::default());
    let mut passed = 0;
    for (fence, status) in [(7, 200), (7, 200), (9, 200), (8, 409), (9, 200), (0, 409)] {
        let answer = asked(&layer, &runs, post("/", fence)).await;
        assert_eq!(answer.status, status, "{fence}");
        passed += u64::from(status == 200);
        assert_eq!(runs.count(), passed);
        if status == 200 {
            assert_eq!((runs.last_fence(), &answer.body[..]), (fence, &b"done"[..]));
            continue;
        }
        let problem = answer.problem();
        assert_eq!(problem["code"], "CACHING_CONFLICT_001");
        assert_eq!(problem["params"]["resource"], "orders");
        assert_eq!(problem["status"], 409);
    }
}

#[tokio::test]
async fn a_refusal_speaks_the_callers_language() {
    let (layer, runs) = (FenceLayer::new(gate(), orders()), Runs::default());
    asked(&layer, &runs, post("/", 9)).await;
    let mut late = post("/", 8);
    late.headers_mut().insert("accept-language", HeaderValue::from_static("zh-CN"));
    let answer = asked(&layer, &runs, late).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.headers["content-language"]),
        (409, &"zh-Hans".parse().unwrap())
    );
}

#[tokio::test]
async fn a_missing_fence_is_a_400_or_passes_and_safe_methods_need_none() {
    let required = FenceLayer::new(gate(), orders());
    let optional = required.clone().missing(MissingFence::Pass);
    for (method, due) in [("POST", 400), ("PUT", 400), ("DELETE", 400), ("GET", 200), ("HEAD", 200)]
    {
        for (layer, due) in [(&required, due), (&optional, 200)] {
            let runs = Runs::default();
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let request = Request::builder().method(method.clone()).body(Body::default()).unwrap();
            let answer = asked(layer, &runs, request).await;
            assert_eq!((answer.status.as_u16(), runs.count()), (due, u64::from(due == 200)));
            if due == 400 {
                assert!(answer.problem()["detail"].as_str().unwrap().contains("Lock-Fence"));
            }
        }
    }
    // A safe method that shows one is judged by it.
    let runs = Runs::default();
    asked(&required, &runs, post("/", 9)).await;
    let mut late = post("/", 8);
    *late.method_mut() = Method::GET;
    assert_eq!(asked(&required, &runs, late).await.status, 409);
}

#[tokio::test]
async fn a_malformed_fence_is_a_400_under_every_policy() {
    for missing in [MissingFence::Require, MissingFence::Pass] {
        let layer = FenceLayer::new(gate(), orders()).missing(missing);
        let runs = Runs::default();
        for text in
            [&b""[..], b"-1", b"+7", b"7,8", b"7 8", b"0x7", b"18446744073709551616", b"\xff"]
        {
            let mut request = post("/", 7);
            request.headers_mut().insert(LOCK_FENCE, HeaderValue::from_bytes(text).unwrap());
            let answer = asked(&layer, &runs, request).await;
            assert_eq!((answer.status.as_u16(), runs.count()), (400, 0), "{text:?}");
        }
        let mut twice = post("/", 7);
        twice.headers_mut().append(LOCK_FENCE, HeaderValue::from_static("7"));
        assert_eq!(asked(&layer, &runs, twice).await.status, 400);
    }
}

#[tokio::test]
async fn the_resource_is_a_name_the_path_a_header_or_by_a_rule() {
    let runs = Runs::default();
    let with_resource = |name: &str, fence| {
        let mut request = post("/", fence);
        add_lock_resource(request.headers_mut(), name);
        request
    };
    let layer = FenceLayer::new(gate(), FenceResource::Path);
    for (path, fence, due) in
        [("/orders/1?a", 9, 200), ("/orders/1?b", 8, 409), ("/orders/2", 8, 200)]
    {
        assert_eq!(asked(&layer, &runs, post(path, fence)).await.status, due, "{path}");
    }
    let layer = FenceLayer::new(gate(), FenceResource::Header);
    for (name, fence, due) in [("ключ/100%", 9, 200), ("ключ/100%", 8, 409), ("ключ", 8, 200)]
    {
        assert_eq!(asked(&layer, &runs, with_resource(name, fence)).await.status, due, "{name}");
    }
    assert_eq!(asked(&layer, &runs, post("/", 9)).await.status, 400, "it names none");
    let last = FenceResource::by(|head| head.uri.path().rsplit('/').next().map(str::to_owned));
    let layer = FenceLayer::new(gate(), last);
    for (path, fence, due) in [("/a/1", 9, 200), ("/b/1", 8, 409), ("/a/2", 8, 200)] {
        assert_eq!(asked(&layer, &runs, post(path, fence)).await.status, due, "{path}");
    }
}

#[tokio::test]
async fn a_resource_that_no_lock_can_have_is_a_400_and_no_hole() {
    let runs = Runs::default();
    let layer = FenceLayer::new(gate(), FenceResource::Header).missing(MissingFence::Pass);
    for name in ["", " ", "a b", "a\nb", "a\0b", &"x".repeat(600)] {
        let mut request = post("/", 7);
        add_lock_resource(request.headers_mut(), name);
        assert_eq!(asked(&layer, &runs, request).await.status, 400, "{name:?}");
    }
    let mut cut = post("/", 7);
    cut.headers_mut().insert(LOCK_RESOURCE, HeaderValue::from_static("a%4"));
    assert_eq!(asked(&layer, &runs, cut).await.status, 400);
    let layer = FenceLayer::new(gate(), FenceResource::Path);
    let long = format!("/{}", "x".repeat(600));
    assert_eq!(asked(&layer, &runs, post(&long, 7)).await.status, 400);
    assert_eq!(runs.count(), 0);
}

#[test]
#[should_panic(expected = "no lock can have this resource")]
fn a_name_that_no_lock_can_have_ends_the_set_up() {
    let _ = FenceLayer::new(gate(), FenceResource::named("a b"));
}

/// A gate that fails.
struct Broken(Fails);

type Fails = fn() -> GateError;

#[async_trait]
impl Gate for Broken {
    async fn check(&self, _: &str, _: Fence) -> Result<GateAnswer, GateError> {
        Err((self.0)())
    }
}

#[tokio::test]
async fn a_gate_that_fails_lets_nothing_pass() {
    let errors: [(Fails, u16, &str); 4] = [
        (|| StoreError::not_applied("secret").into(), 503, "CACHING_UNAVAILABLE_001"),
        (|| StoreError::damaged("secret").into(), 503, "CACHING_UNAVAILABLE_001"),
        (|| StoreError::refused(Refusal::Full, "secret").into(), 503, "CACHING_UNAVAILABLE_002"),
        (|| GateError::FenceTooLarge { shown: Fence::new(9), most: Fence::new(8) }, 400, ""),
    ];
    for (error, status, code) in errors {
        let (layer, runs) = (FenceLayer::new(Broken(error), orders()), Runs::default());
        let answer = asked(&layer, &runs, post("/", 9)).await;
        assert_eq!((answer.status.as_u16(), runs.count()), (status, 0));
        assert_eq!(answer.problem()["code"].as_str().unwrap_or_default(), code);
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret"));
    }
}

/// D8: inside an idempotency layer a refusal is never recorded as the answer of the key.
#[tokio::test]
async fn d8_that_a_holder_came_late_is_not_recorded_for_the_next_one() {
    let once = Once::new(Arc::new(MemoryStore::new(SystemClock::new())));
    let (layer, runs) = (FenceLayer::new(gate(), orders()), Runs::default());
    assert_eq!(asked(&layer, &runs, post("/", 8)).await.status, 200);
    let handler = runs.clone();
    let service = ServiceBuilder::new()
        .layer(IdempotencyLayer::new(once).anonymous(Anonymous::Shared))
        .layer(layer)
        .service_fn(move |request: Request<RequestBody<Body>>| {
            let response = handler.run(&request);
            async move { Ok::<_, Infallible>(response) }
        });
    let mut statuses = Vec::new();
    for fence in [7, 8, 7] {
        let mut request = post("/", fence);
        request.headers_mut().insert("idempotency-key", HeaderValue::from_static("k"));
        statuses.push(service.clone().oneshot(request).await.unwrap().status().as_u16());
    }
    // The last is a repeat of finished work, and gets its answer.
    assert_eq!(statuses, [409, 200, 200]);
    assert_eq!(runs.count(), 2);
}

/// HZ-10: two holders with two requests each: however they fall, none of the older one's runs
/// after one of the newer one's.
#[tokio::test]
async fn hz10_two_holders_interleaved_at_every_step_never_land_in_the_wrong_order() {
    let mut refusals = 0;
    for bits in (0_u32..1 << 4).filter(|bits| bits.count_ones() == 2) {
        let (layer, runs) = (FenceLayer::new(gate(), orders()), Runs::default());
        let mut newer_came = false;
        for at in 0..4 {
            let is_older = bits >> at & 1 == 1;
            let status = asked(&layer, &runs, post("/", if is_older { 7 } else { 8 })).await.status;
            assert_eq!(status, if is_older && newer_came { 409 } else { 200 }, "{bits:04b}");
            newer_came |= !is_older;
            refusals += u32::from(status == 409);
        }
        assert_eq!(runs.last_fence(), 8, "{bits:04b}");
    }
    assert!(refusals > 0, "nobody came late, and this shows nothing");
}
