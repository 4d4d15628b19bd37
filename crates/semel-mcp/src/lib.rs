//! Idempotency for the tools of MCP servers: a wrapper around an [`rmcp`] handler that makes retries
//! harmless.
//!
//! A model, an agent or a gateway calls a tool, the answer gets lost, and it calls again. With a key
//! in the call the tool runs once: every repeat gets the first result, byte for byte, whether it
//! comes a second later, at the same time, in another session, or after the server was killed and
//! started again.
//!
//! # When, and when not
//!
//! Use it around servers whose tools have an effect that must not come twice: orders, payments,
//! mails, tickets, jobs. It works over every transport of rmcp and over every store.
//!
//! Don't use it
//!
//! * for tools that only read: they are harmless, and pass by default;
//! * and expect it to help where nobody sends a key. A key is chosen by whoever wants the call, before
//!   its first try. Clients that know nothing of keys run their tools each time, as before;
//! * to promise *exactly once* by itself: if a tool acts and then fails or dies, only its own
//!   transaction, or a callee that knows keys itself, can undo or recognise the act. Choose a
//!   [`Guarantee`](semel::Guarantee), and hand the [`Permit`](semel::Permit) down;
//! * together with the layer of `semel-http` around the same endpoint: an HTTP request that carries a
//!   tool's call is no operation of its own. The endpoint stands beside that layer.
//!
//! # A server
//!
//! ```
//! use rmcp::handler::server::common::Extension;
//! use rmcp::handler::server::wrapper::Parameters;
//! use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
//! use rmcp::model::{MetaObject, RequestMetaObject, RequestParamsMeta};
//! use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
//! use semel::{Once, Permit, Scope};
//! use semel_mcp::IdempotentTools;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Order {
//!     sku: String,
//! }
//!
//! #[derive(Clone)]
//! struct Shop;
//!
//! #[tool_router]
//! impl Shop {
//!     /// Makes an order.
//!     #[tool]
//!     async fn create_order(
//!         &self,
//!         Parameters(order): Parameters<Order>,
//!         Extension(permit): Extension<Permit>,
//!     ) -> CallToolResult {
//!         // For what is called from here: the same key on every try of this call.
//!         let downstream_key = permit.derive("payment");
//!         let text = format!("one {}, paid under {downstream_key}", order.sku);
//!         CallToolResult::success(vec![ContentBlock::text(text)])
//!     }
//! }
//!
//! #[tool_handler]
//! impl ServerHandler for Shop {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = semel::open("memory:").await?;          // or sqlite:orders.db
//! let tools = IdempotentTools::new(Once::new(store))
//!     .key_required_for(["create_order"])             // this one never runs without a key
//!     .scope(|_context| Scope::new("acme", "alice").ok());
//! let server = tools.around(Shop);
//!
//! let (ours, theirs) = tokio::io::duplex(4096);
//! tokio::spawn(async move {
//!     let running = server.serve(theirs).await?;
//!     running.waiting().await?;
//!     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
//! });
//!
//! let client = ().serve(ours).await?;
//! let order = || {
//!     let arguments = serde_json::json!({ "sku": "keyboard" });
//!     let meta = serde_json::json!({ "idempotencyKey": "order-1" });
//!     let mut order = CallToolRequestParams::new("create_order")
//!         .with_arguments(arguments.as_object().cloned().unwrap_or_default());
//!     order.set_meta(RequestMetaObject(MetaObject(meta.as_object().cloned().unwrap_or_default())));
//!     order
//! };
//! let first = client.call_tool(order()).await?;
//! assert_eq!(client.call_tool(order()).await?, first); // it did not run again
//! # Ok(())
//! # }
//! ```
//!
//! Over streamable HTTP, rmcp makes a handler for each session or request: give it
//! `move || Ok(tools.around(Shop))`, or clones of one [`Idempotent`].
//!
//! # The key
//!
//! | place | as |
//! | --- | --- |
//! | `_meta.idempotencyKey` | the key |
//! | `_meta["xihan.idempotency-key"]` | the key |
//! | `_meta.baggage` | W3C Baggage with the member `xihan.idempotency-key` |
//! | HTTP header `Idempotency-Key` | as `semel-http` reads it (RFC 9651) |
//! | HTTP header `baggage` | as `_meta.baggage` |
//!
//! All places are read, and those that carry a key have to agree. A key that can't be read, is empty
//! or is no text is an error, never "no key". What keys must look like is the policy's
//! [`KeyRule`](semel::KeyRule). A client that puts its key into its connection's headers sends the
//! same one with every call of every tool: right for one call, wrong for a session.
//!
//! The key is its caller's own: a [`Scope`](semel::Scope) from the extensions of the HTTP request
//! (where authentication puts it), from those of the message, or by a rule of one's own
//! ([`IdempotentTools::scope`]).
//!
//! # What happens to a call
//!
//! | call | answer |
//! | --- | --- |
//! | of a tool that only reads, or is not protected | passes, keys unread |
//! | without a key | passes; or −32602 `CACHING_VALIDATION_002` where one is required |
//! | a key that can't be read, or two that differ | −32602 `CACHING_VALIDATION_001` |
//! | arguments over the limit | −32602 `CACHING_VALIDATION_005` |
//! | the first under its key | the tool's own |
//! | a repeat | the recorded one |
//! | a repeat while the first still runs | waits for it and gets its answer; after five seconds −32009 `CACHING_CONFLICT_002` with `retryAfter` |
//! | other arguments under the same key | −32602 `CACHING_VALIDATION_003`, which says what differs |
//! | another tool, or another door, under the same key | −32009 `CACHING_CONFLICT_003` |
//! | a repeat whose answer was not kept | −32009 `CACHING_CONFLICT_003` |
//! | the store can't be reached | −32003 `CACHING_UNAVAILABLE_001`; or the tool's own, with `_meta.idempotencyUnprotected: true` |
//! | the answer could not be recorded (yet) | the tool's own, with `_meta.idempotencyDurable: false` |
//! | the tool panicked | −32603, and the key as [`OnException`](semel::OnException) says |
//!
//! A refusal is a JSON-RPC error. Its `data` is the problem document that the HTTP door would answer
//! with (RFC 9457): `code`, `messageKey`, `params`, `sameKey`, and `retryAfter` in seconds where there
//! is one. Its `message` is the document's `detail`, in the language that `Accept-Language` asks for.
//! Programs look at `data.code`: the numbers are only a coarse sorting (−32602 the call is wrong,
//! −32009 HTTP's 409, −32003 HTTP's 503).
//!
//! Nothing in a replay says that it is one: it is the same answer. The span of the call does, and the
//! metric `semel_calls_total`; [`IdempotentTools::replay_marker`] puts a name of one's own into `_meta`.
//!
//! # What is recorded
//!
//! The whole result as JSON: content, structured content, `isError`, `_meta`. What the first caller
//! gets is read back from that, so that all get the same. The protocol's version is not recorded: rmcp
//! fits the result to what each peer has negotiated.
//!
//! * A result that says `isError` frees its key by default, so that a retry runs; so does a protocol
//!   error. [`Failures`] says otherwise. Under [`Guarantee::AtMostOnce`](semel::Guarantee::AtMostOnce)
//!   every answer stands.
//! * A tool that answers that it needs input has not ended: its key is freed, and the call that
//!   brings the input runs under the same key. Such a tool should act after it has asked.
//! * A tool that answers with a task has begun one: its handle is recorded, and a repeat gets the same
//!   handle. What becomes of the task is for the server's own `tasks/get`, which passes.
//! * Progress that a running tool notifies of is sent as it comes, and is not repeated by a replay.
//! * A result over 256 KiB is given to its first caller, and recorded as done without it.
//!
//! Under [`Guarantee::Transactional`](semel::Guarantee::Transactional) the tool finds a
//! [`TransactionHandle`](semel::TransactionHandle) in its context's extensions. Its rows commit with an
//! answer that is recorded, and are taken back with one that frees its key. A failure that stands,
//! `isError` or a protocol error, is recorded without them.
//!
//! # Calls that are called off
//!
//! A call that its client cancels, or whose connection ends, runs on and is recorded; the retry gets
//! its answer. The tool is not told: its cancellation token stays quiet.
//! [`IdempotentTools::on_cancel`] has it dropped instead; then its key stays held until its lease
//! ends. After the transport was closed, [`Once::drain`](semel::Once::drain) waits for what still runs.
//!
//! # Over other doors
//!
//! An operation has its own name at each door (`tools/call/create_order`, `POST /orders`), so one key
//! at two doors is refused at the second: the work never runs twice. [`IdempotentTools::operation`]
//! gives a tool another door's name. Then a key that was used there is still refused here, and there
//! (`key_reused`), because a recorded answer has the form of its door and none is made up from
//! another's.
//!
//! # Limits
//!
//! Tools in rmcp's `Router` stand outside of a handler and are not seen; those of `#[tool_router]` are.
//! rmcp's feature `local` makes futures that can't outlive their caller's thread, and is not supported.
//!
//! # A map
//!
//! [`IdempotentTools`] is how tools are protected and makes [`Idempotent`] handlers; [`Tools`] are which,
//! [`Failures`] which answers stand. [`Idempotent::new`] is all of it by default. Metrics:
//! `semel_mcp_refused_total`, by `code`; those of the engine are in crate `semel`.

mod call;
mod choices;
mod door;
mod exchange;
mod handler;
mod key;
mod marks;
mod refusal;
mod stored;
mod tools;

pub use choices::{Failures, Protection, Tools};
pub use handler::Idempotent;
pub use tools::IdempotentTools;
