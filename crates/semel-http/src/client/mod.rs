//! The client's side: keys for requests, and retries that are safe.
//!
//! A request whose answer is lost has happened, or has not, or still is about to; its sender can't
//! tell. With a key it may simply ask again: a service that keeps records by keys
//! ([`IdempotencyLayer`](crate::IdempotencyLayer), or any other that knows `Idempotency-Key`) runs
//! it once and gives every repeat the first answer. This module does the asking: for `reqwest`, as
//! a middleware of `reqwest-middleware`, and for any HTTP client that is a tower service.
//!
//! # When, and when not
//!
//! Use it towards services that keep keys. Towards others it is no worse than a client without it
//! for what is idempotent by itself (GET, PUT, DELETE), but it would send a POST again that the
//! service runs again: there, take POST out of [`ClientSettingsBuilder::methods`].
//!
//! It does not make a call exactly-once: it asks until it has an answer, an end of its time, or a
//! reason to stop, and says which ([`AnswerInfo`], [`ClientError`]). What one answer is worth is the
//! service's [`Guarantee`](semel::Guarantee).
//!
//! A service that lets calls run unprotected while its store is down
//! ([`StoreDown::Open`](semel::StoreDown)) gives up the promise for them: what was lost then may run
//! again. Its answers say so (`Idempotency-Unprotected`); an answer that is lost can't.
//!
//! Don't put a second layer of retries around it: each would multiply the other.
//!
//! # With reqwest
//!
//! ```
//! use reqwest_middleware::ClientBuilder;
//! use semel_http::client::{AnswerInfo, ClientError, Conclusion, Origin, SafeRetryLayer};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let client = ClientBuilder::new(reqwest::Client::new())
//!     .with(SafeRetryLayer::default())
//!     .build();
//!
//! let order = client.post("http://shop.example/orders").body("one keyboard");
//! match order.send().await {
//!     Ok(response) => match response.extensions().get::<AnswerInfo>().map(AnswerInfo::origin) {
//!         Some(Origin::Replayed) => println!("an earlier try had got through"),
//!         Some(Origin::Refused(refusal)) => println!("not done: {}", refusal.code()),
//!         _ => println!("done: {}", response.status()),
//!     },
//!     Err(error) => match ClientError::of(&error) {
//!         Some(error) if error.conclusion() == Conclusion::NeverSent => println!("not done"),
//!         // Keep `error.key()`, and ask again with it later.
//!         Some(error) => println!("{error}"),
//!         None => println!("another middleware failed: {error}"),
//!     },
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # With tower
//!
//! ```
//! use std::convert::Infallible;
//!
//! use http::{Request, Response};
//! use http_body_util::Full;
//! use semel_http::RequestBody;
//! use semel_http::client::{AnswerInfo, SafeRetryLayer};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! type Body = Full<bytes::Bytes>;
//!
//! // Here a client of hyper-util would stand.
//! async fn send(request: Request<RequestBody<Body>>) -> Result<Response<Body>, Infallible> {
//!     assert!(request.headers().contains_key("idempotency-key"));
//!     Ok(Response::new(Body::from("done")))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut client = ServiceBuilder::new().layer(SafeRetryLayer::default()).service_fn(send);
//! let order = Request::post("http://shop.example/orders").body(Body::from("one keyboard"))?;
//! let response = client.ready().await?.call(order).await?;
//! let info = response.extensions().get::<AnswerInfo>().expect("on every response");
//! assert_eq!(info.tries(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Keys
//!
//! A request that carries a key keeps it. Any other gets one if the caller put a [`RequestKey`] into
//! its extensions (`with_extension` of `reqwest-middleware`), or if its method is one of
//! [`ClientSettingsBuilder::methods`]: a new UUIDv7 (RFC 9562), the same for all tries of this one
//! request. A key that must outlive this process is the caller's own: it is written down with the
//! intent before anything is sent, and sent again after a restart.
//!
//! The key is written as a string of RFC 9651, as the Idempotency-Key draft says, and marked
//! sensitive, so that no HTTP library prints it. Logs and errors show a short digest.
//!
//! # What is tried again
//!
//! Only a request that carries a key, or whose method is idempotent (RFC 9110, 9.2.2), and whose
//! body can be sent a second time.
//!
//! | what came of a try | again? |
//! | --- | --- |
//! | no connection, a cut connection, an answer that broke off, a time limit | yes |
//! | 408, 425 (RFC 8470), 429 (RFC 6585), 502, 503, 504 | yes |
//! | `CACHING_CONFLICT_002`: the first call still runs | yes, until the deadline; not counted as a try |
//! | `CACHING_UNAVAILABLE_001`, `_002`, whatever the status | yes |
//! | a problem document with `"sameKey": false`, and a code that means it | never |
//! | a replay, whatever its status: each further try would get it too | never |
//! | every other answer | no: it stands |
//!
//! The wait before a try is drawn evenly from zero to a bound that doubles (full jitter). Where the
//! answer has `Retry-After` (RFC 9110, 10.2.3; seconds or a date, which is measured by the answer's
//! own `Date`), it is kept to and never undercut: who is asked to wait longer than
//! [`ClientSettingsBuilder::max_retry_after`] gives up.
//!
//! # What bounds it
//!
//! | bound | default | over it |
//! | --- | --- | --- |
//! | [`max_tries`](ClientSettingsBuilder::max_tries) | 5 | [`GaveUp::TriesUsedUp`] |
//! | [`try_timeout`](ClientSettingsBuilder::try_timeout) | 30 s | another try |
//! | [`deadline`](ClientSettingsBuilder::deadline) | 120 s | [`GaveUp::DeadlineOver`] |
//! | [`RetryBudget`] | 100 retries, 20 for each hundred calls, 60 a minute | [`GaveUp::RetryBudgetEmpty`] |
//!
//! The budget is shared by all calls of a layer and its clones, so that a service that is down sees
//! little more than its usual traffic and not five times that.
//!
//! # What may be concluded
//!
//! | end | meaning |
//! | --- | --- |
//! | an answer, [`AnswerInfo::gave_up`] none | it stands |
//! | an answer that says "later", with [`AnswerInfo::gave_up`] | nothing final; the same key may be sent later |
//! | [`ClientError`], [`Conclusion::NeverSent`] | proven: nothing happened. Only where no redirects are followed ([`Redirects`]) |
//! | [`ClientError`], [`Conclusion::Unknown`] | it may have happened: ask again with the same key |
//!
//! Answers of known length up to [`ClientSettingsBuilder::max_read_ahead`] are read to their end
//! before they are handed out, so that a cut in the middle of one is tried again. In longer ones,
//! and in streams, it is the reader who sees the cut, and may ask again with
//! [`AnswerInfo::key`].
//!
//! # Metrics
//!
//! `semel_http_client_retries_total` by `reason`, `semel_http_client_gave_up_total` by `why`.

mod answer;
mod asked;
mod budget;
mod drive;
mod error;
mod failure;
mod judge;
mod key;
mod layer;
mod middleware;
mod read;
mod service;
mod settings;
#[cfg(test)]
mod tests;
mod wait;

pub use answer::{AnswerInfo, Origin, Refusal};
pub use budget::RetryBudget;
pub use error::{Cause, ClientError, Conclusion, GaveUp};
pub use failure::Failure;
pub use key::RequestKey;
pub use layer::SafeRetryLayer;
pub use read::AnswerBody;
pub use service::{SafeRetry, SafeRetryFuture};
pub use settings::{
    ClientSettings, ClientSettingsBuilder, ClientSettingsError, KeyForm, Redirects,
};
