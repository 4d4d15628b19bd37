//! Idempotency for gRPC services: a tower layer for tonic that makes retries harmless.
//!
//! A client sends a key with a call that must not happen twice. The first call under the key runs;
//! its reply is recorded. Every repeat gets that reply, byte for byte, whether it comes a second
//! later, at the same time, through another server, or after the first one's deadline had passed.
//! It is the door of crate [`semel_http`] in gRPC's words: what is promised is the same, and a
//! service that has both doors may let one key stand for one call through either (see below).
//!
//! # When, and when not
//!
//! Use it for unary methods that have an effect: an order, a payment, a job.
//!
//! Don't use it
//!
//! * for methods that only read: they are harmless already;
//! * for streams. They can't be replayed, so they pass through, untouched; what is to happen once
//!   in them needs calls of its own;
//! * to promise *exactly once* by itself: choose a [`Guarantee`](semel::Guarantee), each of which
//!   says its promise and its condition, and hand the [`Permit`](semel::Permit) down;
//! * with gRPC's own hedging of a call that brings no key: a key is what makes two tries one call.
//!
//! # A service
//!
//! With tonic the layer stands between authentication and the services. `OrdersServer` here is any
//! service of tonic's code generator.
//!
//! ```
//! # use std::convert::Infallible;
//! # use std::task::{Context, Poll};
//! use http::Request;
//! use semel::{Once, Scope};
//! use semel_grpc::GrpcIdempotencyLayer;
//! use tonic::body::Body;
//! use tonic::transport::Server;
//! use tower::ServiceBuilder;
//! # #[derive(Clone)] struct OrdersServer;
//! # impl tonic::server::NamedService for OrdersServer { const NAME: &'static str = "shop.Orders"; }
//! # impl<B> tower::Service<Request<B>> for OrdersServer {
//! #     type Response = http::Response<Body>;
//! #     type Error = Infallible;
//! #     type Future = std::future::Ready<Result<Self::Response, Infallible>>;
//! #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
//! #         Poll::Ready(Ok(()))
//! #     }
//! #     fn call(&mut self, _: Request<B>) -> Self::Future {
//! #         std::future::ready(Ok(tonic::Status::unimplemented("").into_http()))
//! #     }
//! # }
//!
//! /// Who is asking? The key that a client sends is only its own within this scope.
//! fn authenticate(mut request: Request<Body>) -> Request<Body> {
//!     // Here a token is verified; its subject makes the scope, never the token itself.
//!     if let Ok(scope) = Scope::new("acme", "alice") {
//!         request.extensions_mut().insert(scope);
//!     }
//!     request
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = semel::open("memory:").await?;              // or sqlite:orders.db
//! let idempotency = GrpcIdempotencyLayer::new(Once::new(store))
//!     .unary("shop.Orders/Create")                        // once for each key
//!     .pass("shop.Orders/Watch")                          // a stream
//!     .pass("shop.Orders/Get")                            // only reads
//!     .pass_service("grpc.health.v1.Health");
//! let server = Server::builder()
//!     .layer(ServiceBuilder::new().map_request(authenticate).layer(idempotency).into_inner())
//!     .add_service(OrdersServer);
//! # let stopped = async {};
//! server.serve_with_shutdown("127.0.0.1:0".parse()?, stopped).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The method finds a [`Permit`](semel::Permit) in its request's extensions: its fence, keys for
//! calls further down, and whether the claim was lost meanwhile.
//!
//! # A call, without tonic
//!
//! Any service of `http` requests will do. A message stands behind five bytes: a flag that says
//! whether it is compressed, and its length.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use semel::{MemoryStore, Once, timer::SystemClock};
//! use semel_grpc::GrpcIdempotencyLayer;
//! use semel_http::{Anonymous, RequestBody};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! type Body = Full<Bytes>;
//!
//! async fn handle(_: Request<RequestBody<Body>>) -> Result<Response<Body>, Infallible> {
//!     let mut reply = Response::new(Body::from(&b"\0\0\0\0\x02\x08\x07"[..]));
//!     reply.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
//!     reply.headers_mut().insert("grpc-status", "0".parse().unwrap());
//!     Ok(reply)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let once = Once::new(std::sync::Arc::new(MemoryStore::new(SystemClock::new())));
//! let layer = GrpcIdempotencyLayer::new(once)
//!     .unary("shop.Orders/Create")
//!     // Nobody is told apart here: all callers share one space of keys.
//!     .anonymous(Anonymous::Shared);
//! let mut service = ServiceBuilder::new().layer(layer).service_fn(handle);
//!
//! let call = || {
//!     Request::post("/shop.Orders/Create")
//!         .header("content-type", "application/grpc")
//!         .header("idempotency-key", "order-1")
//!         .body(Body::from(&b"\0\0\0\0\x02\x08\x01"[..]))
//! };
//! let first = service.ready().await?.call(call()?).await?;
//! let again = service.ready().await?.call(call()?).await?;
//! assert_eq!(again.headers()["idempotent-replayed"], "true");
//! let first = first.into_body().collect().await?.to_bytes();
//! assert_eq!(first, again.into_body().collect().await?.to_bytes());
//! # Ok(())
//! # }
//! ```
//!
//! # Which methods
//!
//! The layer can't see from a call whether it is a stream, so it is told: a list of names, of which
//! each is [`unary`] or is to [`pass`]. Two things keep the list honest. With the descriptors of the
//! code generator ([`described_by`]) every name is checked at set-up: that there is such a method,
//! and that a protected one is no stream, which is refused by name. And a call of a method that
//! nobody named is refused (`INTERNAL`, and an error in the log) instead of running unprotected or
//! being held back, unless [`OtherMethods::Pass`] is chosen.
//!
//! [`unary`]: GrpcIdempotencyLayer::unary
//! [`pass`]: GrpcIdempotencyLayer::pass
//! [`described_by`]: GrpcIdempotencyLayer::described_by
//!
//! An operation is named `package.Service/Method`, without the slash before it, or as
//! [`GrpcIdempotencyLayer::unary_as`] says: `orders.create`.
//!
//! # What happens to a call
//!
//! | call | answer |
//! | --- | --- |
//! | a method that passes | the handler's own, untouched and unbuffered |
//! | no key | `INVALID_ARGUMENT`, `CACHING_VALIDATION_002`; or passes where keys are optional |
//! | a key that can't be read, or two that differ | `INVALID_ARGUMENT`, `CACHING_VALIDATION_001` |
//! | a message over the limit | `RESOURCE_EXHAUSTED`, `CACHING_VALIDATION_005` |
//! | the first under its key | the handler's own |
//! | a repeat | the recorded one, with metadata `idempotent-replayed: true` |
//! | a repeat while the first still runs | waits for it; after five seconds `ABORTED`, `CACHING_CONFLICT_002`, with a `RetryInfo` |
//! | another message under the same key | `INVALID_ARGUMENT`, `CACHING_VALIDATION_003`, which says what differs |
//! | another operation under the same key | `FAILED_PRECONDITION`, `CACHING_CONFLICT_003` |
//! | a repeat whose reply was not kept | `FAILED_PRECONDITION`, `CACHING_CONFLICT_003` |
//! | outcome unknown, and not to be run again | `ABORTED`, `CACHING_CONFLICT_004` |
//! | the store can't be reached | `UNAVAILABLE`, `CACHING_UNAVAILABLE_001`; or the handler's own, with `idempotency-unprotected: true` |
//! | the reply could not be recorded (yet) | the handler's own, with `idempotency-durable: false` |
//! | a protected method by something that is no gRPC | HTTP 415 |
//!
//! Answers of the layer itself carry their code in metadata `idempotency-error`, and as details a
//! `google.rpc.ErrorInfo` whose `reason` is the code, whose `domain` is [`ERROR_DOMAIN`], and whose
//! `metadata` are `messageKey`, `sameKey` (may the client retry with the same key?) and the
//! problem's parameters, lists joined by commas. The message is English; where `accept-language`
//! asks for another language that there is, a `LocalizedMessage` has it.
//!
//! # What is compared
//!
//! The method (`rpc`), the codec and compression of the message (`encoding`), and its bytes
//! (`message`), each by itself, so that a refusal says which differs. Bytes are compared as they
//! were sent. Whoever sends a call again sends the same ones; but two protobuf libraries may write
//! one message in two ways, and a message that is compressed is other bytes than one that is not.
//! Whoever needs more than that compares for itself: [`GrpcFingerprint::Off`].
//!
//! # What is recorded
//!
//! The message, and of the metadata before and after it what belongs to the outcome: content type,
//! encoding, `grpc-status`, `grpc-message`, `grpc-status-details-bin`, and whatever
//! [`GrpcIdempotencyLayer::replayed_metadata`] adds. A reply is read to its end before the first
//! byte of it leaves, up to 256 KiB: a client that saw anything of it can replay it. A larger one
//! reaches its first caller whole, and its repeats are told that it was not kept.
//!
//! Which statuses are final is what `failures = final_below_500` says of the HTTP statuses that
//! stand for them: see [`GrpcFailures`].
//!
//! Under [`Guarantee::Transactional`](semel::Guarantee::Transactional) the method finds a
//! [`TransactionHandle`](semel::TransactionHandle) in its request's extensions. Its rows commit with
//! a final reply, and are taken back with one that is not; a final one of which the HTTP status is
//! 5xx is recorded alone.
//!
//! # Clients that are gone
//!
//! A deadline that passes (`grpc-timeout`, which tonic's server enforces outside of all layers), a
//! cancelled call and a broken connection are the same here: nobody waits for the reply any more.
//! The handler runs on in a task of its own, its reply is recorded, and the retry replays it. So a
//! server that limits its handlers' time does it inside of this layer. After a graceful shutdown
//! [`Once::drain`](semel::Once::drain) waits for what still runs.
//!
//! # One operation, two doors
//!
//! A service that takes orders through HTTP and through gRPC names the operation alike at both
//! ([`GrpcIdempotencyLayer::unary_as`], `IdempotencyLayer::operation`) over one store. Then a key
//! that was used through one is refused by the other (`key_reused`), for neither can tell whether
//! it is the same request. Where the operation says how it is said through each door, a
//! [`Crossing`], the call is one: requests are compared as messages, and the answer of one door is
//! given as the other's, 201 or 200 as `OK`.
//!
//! ```
//! use bytes::Bytes;
//! use http::{Response, request};
//! use semel::Operation;
//! use semel_grpc::{Crossing, Crossings};
//! use semel_http::HttpSettings;
//! use tonic::Status;
//!
//! #[derive(Clone, PartialEq, prost::Message)]
//! struct Order {
//!     #[prost(string, tag = "1")]
//!     sku: String,
//! }
//!
//! /// Through HTTP an order is its article's name, and so is what became of it.
//! #[derive(Debug)]
//! struct CreateOrder;
//!
//! impl Crossing for CreateOrder {
//!     type Request = Order;
//!     type Reply = Order;
//!
//!     fn request(&self, _: &request::Parts, body: &Bytes) -> Option<Order> {
//!         Some(Order { sku: String::from_utf8(body.to_vec()).ok()? })
//!     }
//!
//!     fn reply(&self, answer: &Response<Bytes>) -> Option<Result<Order, Status>> {
//!         let sku = String::from_utf8(answer.body().to_vec()).ok()?;
//!         answer.status().is_success().then_some(Ok(Order { sku }))
//!     }
//!
//!     fn answer(&self, reply: Result<Order, Status>) -> Option<Response<Bytes>> {
//!         Some(Response::new(reply.ok()?.sku.into()))
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shared = Crossings::new().with(Operation::new("orders.create")?, CreateOrder);
//! // The HTTP door's settings; `GrpcIdempotencyLayer::crossings(&shared)` is for this one.
//! let http = HttpSettings::builder().shared(Some(shared.for_http())).build()?;
//! # let _ = http;
//! # Ok(())
//! # }
//! ```
//!
//! # A map
//!
//! [`GrpcIdempotencyLayer`] makes [`GrpcIdempotency`] services, whose [`GrpcFuture`] gives answers
//! with a [`GrpcBody`]; the inner service gets a [`RequestBody`](semel_http::RequestBody). Within
//! stand the HTTP door ([`Idempotency`](semel_http::Idempotency)), which makes the claim, waits,
//! records and replays, and [`Presented`], which shows it the handler's reply with the HTTP status
//! that stands for its code. [`Replayed`](semel_http::Replayed) and
//! [`OwnAnswer`](semel_http::OwnAnswer) in an answer's extensions tell outer layers what it is.
//!
//! Metrics and spans are those of `semel-http`.

mod answer;
mod body;
mod codes;
mod crossing;
mod failures;
mod fingerprint;
mod frame;
mod future;
mod layer;
mod media;
mod methods;
mod presented;
mod service;

pub use answer::ERROR_DOMAIN;
pub use body::GrpcBody;
pub use crossing::{Crossing, Crossings};
pub use failures::GrpcFailures;
pub use fingerprint::GrpcFingerprint;
pub use future::GrpcFuture;
pub use layer::GrpcIdempotencyLayer;
pub use methods::OtherMethods;
pub use presented::{Presented, PresentedBody, PresentedFuture};
pub use service::GrpcIdempotency;
