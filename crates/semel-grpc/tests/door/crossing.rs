//! One operation, two doors, one store: a key is used through HTTP and through gRPC.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response, StatusCode, request};
use http_body_util::{BodyExt, Full};
use semel::{CallError, Extent, InFlight, Once, Operation, Scope};
use semel_grpc::{Crossing, Crossings, GrpcIdempotencyLayer};
use semel_http::{Fingerprint, HttpSettings, HttpSettingsBuilder, IdempotencyLayer, RequestBody};
use tokio::task::JoinSet;
use tonic::{Code, Status};
use tower::{Layer, ServiceExt};

use crate::refusals::info;
use crate::support::{CREATE, Client, Order, Placed, Running, Shop, once};

const OPERATION: &str = "orders.create";

/// Through HTTP an order is `pen 1`, and what became of it `7 pen`.
#[derive(Debug)]
struct Orders;

impl Crossing for Orders {
    type Request = Order;
    type Reply = Placed;

    fn request(&self, head: &request::Parts, body: &Bytes) -> Option<Order> {
        assert_eq!(head.uri.path(), "/orders");
        let (sku, quantity) = std::str::from_utf8(body).ok()?.trim().split_once(' ')?;
        Some(Order { sku: sku.to_owned(), quantity: quantity.trim().parse().ok()? })
    }

    fn reply(&self, answer: &Response<Bytes>) -> Option<Result<Placed, Status>> {
        match answer.status() {
            StatusCode::CREATED => {
                let (number, sku) = std::str::from_utf8(answer.body()).ok()?.split_once(' ')?;
                Some(Ok(Placed { number: number.parse().ok()?, sku: sku.to_owned() }))
            }
            StatusCode::NOT_FOUND => Some(Err(Status::not_found("no such article: 筆"))),
            _ => None,
        }
    }

    fn answer(&self, reply: Result<Placed, Status>) -> Option<Response<Bytes>> {
        let answer = |status, body: String| {
            let answer = Response::builder().status(status).header("content-type", "text/plain");
            answer.body(Bytes::from(body)).ok()
        };
        match reply {
            Ok(placed) => answer(201, format!("{} {}", placed.number, placed.sku)),
            Err(status) if status.code() == Code::NotFound => {
                answer(404, status.message().to_owned())
            }
            Err(_) => None,
        }
    }
}

fn crossings() -> Crossings {
    Crossings::new().with(Operation::new(OPERATION).unwrap(), Orders)
}

/// What both handlers do: an article `none` is not found, `odd` is refused oddly.
fn placed(order: &Order, runs: &AtomicUsize) -> Result<Placed, Code> {
    let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
    match order.sku.as_str() {
        "none" => Err(Code::NotFound),
        "odd" => Err(Code::FailedPrecondition),
        sku => Ok(Placed { number: run as u64, sku: sku.to_owned() }),
    }
}

/// Both doors of one shop.
struct Doors {
    http: HttpSettings,
    once: Once,
    grpc: Client,
    runs: Arc<AtomicUsize>,
    _server: Running,
}

struct Answer {
    status: u16,
    error: Option<String>,
    is_replay: bool,
    body: String,
}

impl Doors {
    /// Doors that know how they are one.
    async fn shared() -> Self {
        let shared = crossings();
        let http = |settings: HttpSettingsBuilder| settings.shared(Some(shared.for_http()));
        Self::with(http, |layer| layer.crossings(&shared)).await
    }

    async fn with(
        http: impl FnOnce(HttpSettingsBuilder) -> HttpSettingsBuilder,
        grpc: impl FnOnce(GrpcIdempotencyLayer) -> GrpcIdempotencyLayer,
    ) -> Self {
        let (once, runs) = (once(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&runs);
        let shop = Shop::with(move |asked| {
            let placed = placed(&asked.order, &counted);
            async move {
                let said = |code| Status::new(code, "no such article: 筆");
                placed.map(tonic::Response::new).map_err(said)
            }
        });
        let layer = GrpcIdempotencyLayer::new(once.clone()).unary_as(CREATE, OPERATION);
        let server = Running::serve(grpc(layer), shop).await;
        let http = http(HttpSettings::builder()).build().unwrap();
        Self { http, once, grpc: server.client().await, runs, _server: server }
    }

    async fn post(&self, key: &str, body: &'static str) -> Answer {
        let runs = Arc::clone(&self.runs);
        let handler = tower::service_fn(move |request: Request<RequestBody<Full<Bytes>>>| {
            let runs = Arc::clone(&runs);
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let text = std::str::from_utf8(&body).unwrap();
                let (sku, quantity) = text.trim().split_once(' ').unwrap();
                let quantity = quantity.trim().parse().unwrap();
                let placed = placed(&Order { sku: sku.to_owned(), quantity }, &runs);
                let (status, body) = match placed {
                    Ok(placed) => (201, format!("{} {}", placed.number, placed.sku)),
                    Err(Code::NotFound) => (404, "no such article: 筆".to_owned()),
                    Err(_) => (409, "odd".to_owned()),
                };
                let answer =
                    Response::builder().status(status).header("content-type", "text/plain");
                Ok::<_, Infallible>(answer.body(Full::new(Bytes::from(body))).unwrap())
            }
        });
        let layer = IdempotencyLayer::new(self.once.clone()).operation(OPERATION);
        let service = layer.settings(self.http.clone()).layer(handler);
        let request = Request::post("/orders")
            .header("idempotency-key", key)
            .header("content-type", "text/plain")
            .extension(Scope::new("acme", "alice").unwrap());
        let request = request.body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap();
        let (head, body) = service.oneshot(request).await.unwrap().into_parts();
        let header = |name| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status.as_u16(),
            error: header("idempotency-error"),
            is_replay: header("idempotent-replayed").is_some(),
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

fn assert_reused(refused: &Status) {
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let info = info(refused, "CACHING_CONFLICT_003");
    assert_eq!(info.metadata["messageKey"], "caching.idempotency.key_reused");
    assert_eq!(info.metadata["operation"], OPERATION);
    assert_eq!(info.metadata["recorded"], "orders.create (through another door)");
}

fn assert_http_reused(refused: &Answer) {
    assert_eq!((refused.status, refused.error.as_deref()), (409, Some("CACHING_CONFLICT_003")));
    assert!(refused.body.contains("caching.idempotency.key_reused"), "{}", refused.body);
}

#[tokio::test]
async fn an_order_of_http_is_replayed_through_grpc() {
    let doors = Doors::shared().await;
    let first = doors.post("k", "pen 1").await;
    assert_eq!((first.status, first.body.as_str()), (201, "1 pen"));
    for _ in 0..2 {
        let again = doors.grpc.create("k").await.unwrap();
        assert_eq!(again.get_ref(), &Placed { number: 1, sku: "pen".to_owned() });
        assert_eq!(again.metadata().get("idempotent-replayed").unwrap(), "true");
    }
    assert!(doors.post("k", "pen 1").await.is_replay);
    assert_eq!(doors.runs(), 1);
}

#[tokio::test]
async fn an_order_of_grpc_is_replayed_through_http() {
    let doors = Doors::shared().await;
    assert_eq!(doors.grpc.create("k").await.unwrap().get_ref().number, 1);
    for _ in 0..2 {
        let again = doors.post("k", "pen 1").await;
        assert_eq!((again.status, again.body.as_str(), again.is_replay), (201, "1 pen", true));
    }
    assert_eq!(doors.runs(), 1);
}

#[tokio::test]
async fn a_refusal_of_the_handler_crosses_where_the_operation_says_how() {
    let doors = Doors::shared().await;
    assert_eq!(doors.post("a", "none 1").await.status, 404);
    let again = doors.grpc.order("a", "none").await.unwrap_err();
    assert_eq!((again.code(), again.message()), (Code::NotFound, "no such article: 筆"));
    assert_eq!(doors.grpc.order("b", "none").await.unwrap_err().code(), Code::NotFound);
    let again = doors.post("b", "none 1").await;
    assert_eq!((again.status, again.body.as_str()), (404, "no such article: 筆"));
    assert_eq!(doors.runs(), 2);
}

#[tokio::test]
async fn what_the_operation_cannot_say_is_refused() {
    let doors = Doors::shared().await;
    assert_eq!(doors.post("a", "odd 1").await.status, 409);
    assert_reused(&doors.grpc.order("a", "odd").await.unwrap_err());
    doors.grpc.order("b", "odd").await.unwrap_err();
    assert_http_reused(&doors.post("b", "odd 1").await);
    assert_eq!(doors.runs(), 2);
}

/// R3: a key that was used through one door holds at every other.
#[tokio::test]
async fn r3_without_a_crossing_a_key_belongs_to_the_door_that_it_came_through() {
    let doors = Doors::with(|http| http, |grpc| grpc).await;
    doors.post("a", "pen 1").await;
    assert_reused(&doors.grpc.create("a").await.unwrap_err());
    doors.grpc.create("b").await.unwrap();
    assert_http_reused(&doors.post("b", "pen 1").await);
    assert_eq!(doors.runs(), 2);
}

/// Only one of the doors knows: what came through the other was never made comparable.
#[tokio::test]
async fn a_crossing_at_one_door_alone_shares_nothing() {
    let shared = crossings();
    let http = shared.for_http();
    for doors in [
        Doors::with(|http| http, |grpc| grpc.crossings(&shared)).await,
        Doors::with(|settings| settings.shared(Some(http)), |grpc| grpc).await,
    ] {
        doors.post("a", "pen 1").await;
        assert_reused(&doors.grpc.create("a").await.unwrap_err());
        doors.grpc.create("b").await.unwrap();
        assert_http_reused(&doors.post("b", "pen 1").await);
        assert_eq!(doors.runs(), 2);
    }
}

#[tokio::test]
async fn another_input_under_the_same_key_is_a_mismatch_through_either_door() {
    let doors = Doors::shared().await;
    doors.post("a", "pen 1").await;
    let refused = doors.grpc.order("a", "ink").await.unwrap_err();
    assert_eq!(info(&refused, "CACHING_VALIDATION_003").metadata["differs"], "input");
    doors.grpc.create("b").await.unwrap();
    let refused = doors.post("b", "pen 2").await;
    assert_eq!((refused.status, refused.error.as_deref()), (422, Some("CACHING_VALIDATION_003")));
    assert_eq!(doors.runs(), 2);
}

/// Across doors it is the input that counts; through one door it is every byte.
#[tokio::test]
async fn another_writing_of_the_same_input_is_the_same_only_across_doors() {
    let doors = Doors::shared().await;
    doors.grpc.create("a").await.unwrap();
    assert!(doors.post("a", "pen   1").await.is_replay);
    doors.post("b", "pen 1").await;
    assert_eq!(doors.post("b", "pen   1").await.status, 422);
    assert_eq!(doors.runs(), 2);
}

/// Where one door compares nothing, nobody knows whether it is the same request.
#[tokio::test]
async fn without_a_fingerprint_nothing_crosses() {
    let shared = crossings();
    let http = shared.for_http();
    let doors = Doors::with(
        |settings| settings.shared(Some(http)).fingerprint(Fingerprint::Off),
        |grpc| grpc.crossings(&shared),
    )
    .await;
    doors.post("a", "pen 1").await;
    assert_reused(&doors.grpc.create("a").await.unwrap_err());
    doors.grpc.create("b").await.unwrap();
    assert_http_reused(&doors.post("b", "pen 1").await);
}

#[tokio::test]
async fn an_answer_that_was_not_kept_does_not_cross_and_nothing_runs_again() {
    let shared = crossings();
    let http = shared.for_http();
    let doors = Doors::with(
        |settings| settings.shared(Some(http)).max_cached_response(2),
        |grpc| grpc.crossings(&shared),
    )
    .await;
    doors.post("k", "pen 1").await;
    let refused = doors.grpc.create("k").await.unwrap_err();
    let info = info(&refused, "CACHING_CONFLICT_003");
    assert_eq!(info.metadata["messageKey"], "caching.idempotency.response_unavailable");
    assert_eq!(doors.runs(), 1);
}

/// R3. A crossing says nothing of functions.
#[tokio::test]
async fn r3_a_functions_answer_does_not_cross() {
    let doors = Doors::shared().await;
    let by_function = async |key| {
        let call = doors.once.call(key).scope(Scope::new("acme", "alice").unwrap());
        call.operation(OPERATION).run(async |_| Ok::<_, ()>(7_u8)).await
    };
    by_function("a").await.unwrap();
    assert_reused(&doors.grpc.create("a").await.unwrap_err());
    assert_http_reused(&doors.post("a", "pen 1").await);
    doors.grpc.create("b").await.unwrap();
    doors.post("c", "pen 1").await;
    for key in ["b", "c"] {
        let Err(CallError::Refused(problem)) = by_function(key).await else { panic!("it ran") };
        assert_eq!(problem.code(), semel::Code::KeyReused);
    }
    assert_eq!(doors.runs(), 2);
}

/// R3, where the doors say how they are one.
#[tokio::test]
async fn r3_fifty_calls_through_both_doors_at_once_are_one_execution() {
    let doors = Arc::new(Doors::shared().await);
    let mut calls = JoinSet::new();
    for call in 0..50 {
        let doors = Arc::clone(&doors);
        calls.spawn(async move {
            if call % 2 == 0 {
                doors.post("k", "pen 1").await.body
            } else {
                let placed = doors.grpc.create("k").await.unwrap().into_inner();
                format!("{} {}", placed.number, placed.sku)
            }
        });
    }
    assert!(calls.join_all().await.iter().all(|answer| answer == "1 pen"));
    assert_eq!(doors.runs(), 1);
}

/// The policy of the doors need not be the same; the form of the record says whose it is.
#[tokio::test]
async fn a_record_says_which_door_it_came_through() {
    let doors = Doors::with(|http| http, |grpc| grpc.in_flight(InFlight::Reject)).await;
    doors.grpc.create("k").await.unwrap();
    let policy = doors.once.default_policy();
    let (scope, operation) =
        (Scope::new("acme", "alice").unwrap(), Operation::new(OPERATION).unwrap());
    let call = semel::Call::new(&policy, &scope, "k", operation).unwrap();
    let semel::Attached::Replay(replay) = doors.once.attach(&call).await else { panic!() };
    assert_eq!((replay.outcome.form, replay.outcome.extent), (semel::Form::Grpc, Extent::Whole));
}
