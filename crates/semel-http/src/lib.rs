//! Idempotency for HTTP services: a tower layer that makes retries harmless.
//!
//! A client sends a key with a request that must not happen twice. The first request under the
//! key runs; its answer is recorded. Every repeat gets that answer, byte for byte, whether it
//! comes a second later, at the same time, from another machine, or after the first client had
//! hung up. What is promised in which case is in the contract; this page says how to use it.
//!
//! # When, and when not
//!
//! Use it in front of what has an effect and can be asked for twice: payments, orders, messages
//! sent, jobs started. It works under every tower server (hyper, axum), over HTTP/1.1 and HTTP/2,
//! and over every store.
//!
//! Don't use it
//!
//! * for reads: they are harmless already, and a cache is made for them;
//! * to promise *exactly once* by itself: if a handler acts and then fails or dies, only the
//!   handler's own transaction, or a callee that knows keys itself, can undo or recognise the
//!   act. Choose a [`Guarantee`](semel::Guarantee), each of which says its promise and its
//!   condition, and hand the [`Permit`](semel::Permit) down (see below);
//! * for answers that are streams of hours: they pass, but a repeat is only told that the work
//!   was done;
//! * with two layers of one store and the same keys around one route: the inner one would wait
//!   for the outer one. The layer tells so at the first request (500, and an error in the log).
//!   Give a route its own layer *instead* of the router's.
//!
//! # A service, with axum
//!
//! ```
//! use axum::extract::{Extension, Request};
//! use axum::http::StatusCode;
//! use axum::middleware::{Next, from_fn};
//! use axum::response::Response;
//! use axum::routing::post;
//! use axum::{Json, Router};
//! use semel::{Once, Permit, Scope};
//! use semel_http::IdempotencyLayer;
//! use serde_json::{Value, json};
//!
//! /// Who is asking? The key that a client sends is only its own within this scope.
//! async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
//!     // Here a token is verified; its subject makes the scope, never the token itself.
//!     let scope = Scope::new("acme", "alice").map_err(|_| StatusCode::UNAUTHORIZED)?;
//!     request.extensions_mut().insert(scope);
//!     Ok(next.run(request).await)
//! }
//!
//! async fn create_order(permit: Extension<Permit>, order: Json<Value>) -> Json<Value> {
//!     // For what is called from here: the same key on every try of this call.
//!     let downstream_key = permit.derive("payment");
//!     Json(json!({ "ordered": order.0, "payment_key": downstream_key }))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = semel::open("memory:").await?;          // or sqlite:orders.db
//! let once = Once::new(store);
//! let app = Router::new()
//!     .route("/orders", post(create_order))
//!     .layer(IdempotencyLayer::new(once))             // inside of who authenticates
//!     .layer(from_fn(authenticate));
//!
//! # use axum::body::{Body, to_bytes};
//! # use tower::ServiceExt;
//! let order = || {
//!     Request::post("/orders")
//!         .header("content-type", "application/json")
//!         .header("idempotency-key", "order-1")
//!         .body(Body::from(r#"{"sku":"keyboard"}"#))
//! };
//! let first = app.clone().oneshot(order()?).await?;
//! let again = app.clone().oneshot(order()?).await?;
//! assert_eq!(again.headers()["idempotent-replayed"], "true");
//! let first = to_bytes(first.into_body(), 1024).await?;
//! assert_eq!(first, to_bytes(again.into_body(), 1024).await?);
//! # Ok(())
//! # }
//! ```
//!
//! With feature `axum` the matched route is part of what a request does (`POST /orders/{id}`);
//! without it the path is. Either may be named instead: [`IdempotencyLayer::operation`].
//!
//! # A service, with tower alone
//!
//! Any service of `http` requests will do, with bodies and errors of its own.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use http::{Request, Response};
//! use http_body_util::Full;
//! use semel::{MemoryStore, Once, timer::SystemClock};
//! use semel_http::{Anonymous, Idempotency, IdempotencyLayer, RequestBody};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! type Body = Full<bytes::Bytes>;
//!
//! async fn handle(_: Request<RequestBody<Body>>) -> Result<Response<Body>, Infallible> {
//!     Ok(Response::new(Body::from("done")))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let once = Once::new(std::sync::Arc::new(MemoryStore::new(SystemClock::new())));
//! let mut service = ServiceBuilder::new()
//!     // Nobody is told apart here: all callers share one space of keys.
//!     .layer(IdempotencyLayer::new(once).anonymous(Anonymous::Shared))
//!     .service_fn(handle);
//!
//! let request = Request::post("/").header("idempotency-key", "k").body(Body::default())?;
//! assert!(service.ready().await?.call(request).await?.status().is_success());
//! # Ok(())
//! # }
//! ```
//!
//! # Its place among other layers
//!
//! *Outside* of it: authentication (it puts a [`Scope`](semel::Scope) into the request's
//! extensions; a request without one is a fault of the service unless
//! [`Anonymous::Shared`] is chosen), rate limits, CORS, tracing, compression, catching of panics.
//! *Inside* of it: everything whose effect must happen once. What is recorded is what comes out
//! of the inside; what outer layers make of it is not, and a failure out there takes nothing back.
//!
//! [`Pipeline`] puts the stages of a service into this order by construction, and prints it.
//!
//! A limit of concurrency further in counts requests that wait for another one of their key too:
//! they hold the place that they were polled ready for.
//!
//! # What happens to a request
//!
//! | request | answer | header |
//! | --- | --- | --- |
//! | a method that is not protected | passes, untouched and unbuffered | |
//! | no key | 400 `CACHING_VALIDATION_002`, or passes where keys are optional | |
//! | a key that can't be read, or two that differ | 400 `CACHING_VALIDATION_001`, always | |
//! | a body over the limit | 413 `CACHING_VALIDATION_005` | |
//! | the first under its key | the handler's own | |
//! | a repeat | the recorded one | `Idempotent-Replayed: true` |
//! | a repeat while the first still runs | waits for it and gets its answer; after five seconds 409 `CACHING_CONFLICT_002` | `Retry-After` |
//! | another request under the same key | 422 `CACHING_VALIDATION_003`, which says what differs | |
//! | another operation under the same key | 409 `CACHING_CONFLICT_003` | |
//! | a repeat whose answer was not kept | 409 `CACHING_CONFLICT_003`, or status and headers ([`Oversized::Status`]) | |
//! | the store can't be reached | 503 `CACHING_UNAVAILABLE_001`, or the handler's own, unprotected | `Idempotency-Unprotected: true` |
//! | the answer could not be recorded (yet) | the handler's own | `Idempotency-Durable: false` |
//! | the transaction of a [`Transactional`](semel::Guarantee::Transactional) call was rolled back | 503 `CACHING_UNAVAILABLE_001` | |
//!
//! All answers of the layer itself are `application/problem+json` (RFC 9457), in English or
//! Chinese as `Accept-Language` has it, and those with a code carry it in `Idempotency-Error`.
//! Four have no code: an upload that broke off (400), a service that is set up wrong (500), a
//! runtime that is going away (503), a commit of which the end is not known yet (503).
//!
//! The handler finds a [`Permit`](semel::Permit) in the request's extensions when it runs under a
//! key: its fence, keys for calls further down, and whether the claim was lost meanwhile.
//!
//! # What is recorded, and what is not
//!
//! Recorded are the status, the body, trailers, and of the headers those that describe the
//! content and where it is ([`HttpSettingsBuilder::replayed_headers`]). Not recorded, for they
//! belong to one exchange or one client: cookies, dates, credentials, limits and trace ids,
//! whatever `Connection` names, and the framing, which each replay makes anew.
//!
//! * Answers of 5xx, and 408, 425 and 429, free the key, so that a retry runs: [`Failures`].
//! * A handler that panics or fails without an answer frees it too:
//!   [`OnException`](semel::OnException).
//! * A body of known length up to 256 KiB is recorded before its first byte leaves: a client that
//!   saw anything of it can replay it.
//! * A body of unknown length, or a stream of events, is passed on as it comes. That the work was
//!   done is recorded before its first byte, all of it once it has ended, if it fits. Where its
//!   reader leaves, the rest is read in the background (but for events), for a lease at most.
//! * What is larger, breaks off, or has another length than it said is never replayed as if it
//!   were whole. The work does not run again: [`Oversized`] says what a repeat gets.
//! * When a client hangs up, the handler runs on in a task of its own and is recorded:
//!   [`OnDisconnect`].
//!
//! The answer is that of the first request in its first representation: `Accept` is not compared.
//!
//! # Record and rows in one commit
//!
//! Under [`Guarantee::Transactional`](semel::Guarantee::Transactional) the effect is exactly one, as
//! long as it is rows of the service's own in the store's database (PostgreSQL or SQLite). The layer
//! opens a transaction and claims the key in it; the handler writes its rows with it; the layer
//! records the answer in it and commits. Before that commit nobody sees any of it, and whatever
//! comes in between takes all of it back.
//!
//! ```no_run
//! use axum::routing::post;
//! use axum::{Json, Router, http::StatusCode};
//! use semel::{Guarantee, Once, open_with_transactions};
//! use semel_http::IdempotencyLayer;
//! use semel_postgres::Tx; // with feature `axum`
//!
//! async fn charge(tx: Tx, Json(cents): Json<i64>) -> Result<Json<i64>, StatusCode> {
//!     let sql = "INSERT INTO payments (cents) VALUES ($1) RETURNING number";
//!     let row = tx.query_one(sql, &[&cents]).await;
//!     Ok(Json(row.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?.get(0)))
//! }
//!
//! # async fn app() -> Result<Router, semel::OpenError> {
//! let once = Once::with_transactions(open_with_transactions("postgres://db/shop").await?);
//! let layer = IdempotencyLayer::new(once).guarantee(Guarantee::Transactional);
//! let app = Router::new().route("/payments", post(charge)).layer(layer);
//! # Ok(app)
//! # }
//! ```
//!
//! Without axum the handler finds a [`TransactionHandle`](semel::TransactionHandle) in the request's
//! extensions, and asks it for its store's `Tx`.
//!
//! | the handler | rows | record |
//! | --- | --- | --- |
//! | gives an answer that is final ([`Failures`]), up to 499 | committed | committed with them |
//! | gives one that is not | taken back | none: a retry runs |
//! | gives a 5xx that is to be final ([`Failures::All`]) | taken back | the answer alone |
//! | panics, fails, or its body breaks off before it is recorded | taken back | none; the answer alone under [`OnException::Record`](semel::OnException::Record) |
//! | overlooks that a statement failed in PostgreSQL | taken back | none: the client gets 503 |
//! | keeps its transaction past its answer: in a task, or in a body that it still makes | taken back | none: the client gets 500, and the log says why |
//! | is dropped with its client ([`OnDisconnect::Cancel`]) | taken back | none |
//!
//! Streams and what is too large to keep are treated as ever: the rows commit, and that the work
//! was done is recorded with them, before the first byte leaves.
//!
//! A repeat at the same time waits in this process without a connection, and for another process at
//! the database; then it gets the recorded answer, or runs if there is none. It is never told that
//! a call is in doubt: there is nothing that could be. A request without a key has no transaction,
//! so keys should be required, as they are by default.
//!
//! # CORS
//!
//! A script in a browser sees none of the headers above unless the service exposes them, and can
//! send none unless it is allowed to.
//!
//! ```
//! use http::HeaderName;
//! use semel_http::HttpSettings;
//! use tower_http::cors::CorsLayer;
//!
//! let settings = HttpSettings::default();
//! let cors = CorsLayer::new()
//!     .allow_headers([HeaderName::from_static("idempotency-key")])
//!     .expose_headers(settings.exposed_headers());
//! # let _ = cors;
//! ```
//!
//! # Shutdown
//!
//! Handlers whose client hung up run in tasks that no server knows of. After the server has shut
//! down gracefully, [`Once::drain`](semel::Once::drain) waits for them and for their records.
//!
//! ```no_run
//! # use std::time::Duration;
//! # use semel::Once;
//! # async fn run(once: Once, app: axum::Router) -> std::io::Result<()> {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
//! axum::serve(listener, app)
//!     .with_graceful_shutdown(async { tokio::signal::ctrl_c().await.unwrap_or_default() })
//!     .await?;
//! if let semel::Drained::StillRunning(calls) = once.drain(Duration::from_secs(30)).await {
//!     // Their keys stay held until their leases end.
//!     eprintln!("{calls} calls were cut off");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Requests under a lock
//!
//! A caller that holds a lock may stand still and go on when it is another's. [`add_lock_fence`]
//! adds its guard's fence to a request; [`FenceLayer`] remembers the highest one of each resource
//! and refuses what comes with an older one (409). It needs no idempotency keys.
//!
//! # Sessions
//!
//! With feature `sessions`, `CacheSessionStore` keeps sessions of `tower-sessions` in the store that
//! idempotent calls and locks are in. The example `shop` has all three.
//!
//! # A map
//!
//! [`IdempotencyLayer`] makes [`Idempotency`] services, whose [`ResponseFuture`] gives answers
//! with a [`ResponseBody`]; the inner service gets a [`RequestBody`]. How calls are treated is a
//! [`Policy`](semel::Policy), how HTTP is treated are [`HttpSettings`]: [`Methods`],
//! [`KeySources`], [`Fingerprint`], [`Failures`], [`Oversized`], [`OnDisconnect`], [`Anonymous`].
//! [`Preset`](semel::Preset) bundles both as a known system has them. [`Replayed`] tells outer
//! layers of a replay.
//!
//! Module `client` (feature `client`) is the other side: keys and safe retries for `reqwest` and for
//! tower clients. Module `openapi` (feature `openapi`) describes what the layer does to an operation.
//!
//! Metrics: `semel_http_refused_total`, by `code`; `semel_http_sessions_gone_total`, sessions that
//! were saved when they were there no more; those of the engine are in crate `semel`. What
//! runs under a key stands in a span `idempotent_call`, with a short digest of the key, the
//! operation, the outcome and the attempt. Logs and metrics hold no keys, bodies or scopes.

mod body;
#[cfg(feature = "client")]
pub mod client;
mod collect;
mod door;
mod exchange;
mod fence;
mod fingerprint;
mod future;
mod key;
mod layer;
mod marks;
mod media;
#[cfg(feature = "openapi")]
pub mod openapi;
mod operation;
mod pipeline;
mod problem;
mod recording;
mod replay;
mod service;
#[cfg(feature = "sessions")]
mod session;
mod settings;
mod shared;
mod stored;

pub use body::{RequestBody, ResponseBody};
pub use fence::{
    FenceFuture, FenceGuarded, FenceLayer, FenceResource, LOCK_FENCE, LOCK_RESOURCE, MissingFence,
    ResourceOf, ShownFence, add_lock_fence, add_lock_resource,
};
pub use fingerprint::{DigestsOf, Fingerprint, SelectError, Selection, canonical_json};
pub use future::ResponseFuture;
pub use key::{
    BaggageFault, BaggageKey, BaggageKeyError, Found, HeaderFault, HeaderSyntax, HeaderSyntaxError,
    ItemKind, KeyFault, KeySource, KeySources, KeySourcesError, UncheckedKey,
};
pub use layer::IdempotencyLayer;
pub use marks::OwnAnswer;
pub use pipeline::{Absent, Pipeline, Present, Stage};
pub use problem::{language, problem_document};
pub use replay::Replayed;
pub use semel::Finality;
pub use service::Idempotency;
#[cfg(feature = "sessions")]
pub use session::CacheSessionStore;
pub use settings::{
    Anonymous, Failures, HttpSettings, HttpSettingsBuilder, HttpSettingsError, Methods,
    OnDisconnect, Oversized,
};
pub use shared::{SHARED_INPUT, SharedOperations};
pub use stored::{RecordedAnswer, outcome_of, status_of};
