//! Cached values: bytes or anything that serde takes, with a lifetime, in the store that locks and
//! idempotent calls are in.
//!
//! ```
//! use std::time::Duration;
//!
//! use semel::cache::{Cache, Lifetime, TryAdded};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Rate {
//!     currency: String,
//!     micros: u64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! const MINUTE: Duration = Duration::from_secs(60);
//!
//! // One store for all: give it to `Once` and `Locks` as well.
//! let store = semel::open("memory:").await?;
//! let cache = Cache::new(store);
//!
//! // Bytes. A duration is a lifetime; so is an instant.
//! cache.set("page:/home", "<h1>Hello</h1>", 5 * MINUTE).await?;
//! assert_eq!(cache.get("page:/home").await?.as_deref(), Some(&b"<h1>Hello</h1>"[..]));
//!
//! // Values.
//! let rates = cache.typed::<Rate>();
//! let rate = Rate { currency: "EUR".into(), micros: 1_081_200 };
//! rates.set("rate:EUR", &rate, 10 * MINUTE).await?;
//! assert_eq!(rates.get("rate:EUR").await?, Some(rate));
//!
//! // Kept as long as it is used, a day at most.
//! let basket = Lifetime::sliding(20 * MINUTE).at_most(1_440 * MINUTE);
//! cache.set("basket:alice", "tea", basket).await?;
//!
//! // Of many who try at once, one adds; the others are told what is there.
//! let mine = cache.try_add("greeted:alice", "by web-1", 60 * MINUTE).await?;
//! assert_eq!(mine, TryAdded::Added);
//! let again = cache.try_add("greeted:alice", "by web-2", 60 * MINUTE).await?;
//! assert_eq!(again, TryAdded::Present("by web-1".into()));
//!
//! // What begins alike, a page at a time.
//! let page = cache.keys("rate:", None, 100).await?;
//! assert_eq!(page.keys.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # When, and when not
//!
//! Use it for what can be computed or fetched again and is wanted often: pages, prices, tokens,
//! sessions; across processes where the store is shared.
//!
//! Don't use it
//!
//! * as a lock: who has added a value has no lease that is renewed, no fence, and is not told when
//!   it is over. [`Locks`](crate::Locks) are for that;
//! * to do something once: a value may end before its work does. [`Once`](crate::Once) is for that;
//! * as a database: a value that has ended is gone;
//! * as a cache that makes room: **a full store refuses, it evicts nothing** that is alive, for it
//!   holds claims and locks as well. Give each value the lifetime that it needs, and bound how many
//!   there are.
//!
//! # Lifetimes
//!
//! | said | the value is there |
//! | --- | --- |
//! | nothing: [`Lifetime::default`] | for the cache's [default](CacheBuilder::default_time_to_live), 300 seconds; never "for ever" |
//! | [`Lifetime::of`], or a [`Duration`](std::time::Duration) | for so long |
//! | [`Lifetime::until`], or a [`SystemTime`](std::time::SystemTime) | until then; an instant that has passed is an error |
//! | several of these | until the earliest |
//! | [`Lifetime::sliding`] | for so long from the last read, and never past an end that was said with it |
//!
//! Durations go to the store, and its clock alone judges them; an instant is turned into a duration
//! once, by this machine's clock, when the value is handed over. Zero, and more than ten years, is
//! refused.
//!
//! [`get`](Cache::get) and [`refresh`](Cache::refresh) renew a sliding lifetime; nothing else does.
//! Within a hundredth of it they leave it as it is, so that a value which everybody reads is not
//! written for each read: it may end that much earlier than its last read would have it. A sliding
//! value without an end takes room only as long as it lives. One with an end is absent when
//! it was not read in time, and its bytes take room until the end.
//!
//! # What is promised
//!
//! * Each operation on a key is one atomic step for whoever looks, in this process or another: of
//!   all who [`try_add`](Cache::try_add) one adds, of all who [`try_remove`](Cache::try_remove) one
//!   value one removes it, and [`try_replace`](Cache::try_replace) brings back nothing that was
//!   removed.
//! * Absent is an answer. That the store can't be reached, or that an entry can't be read, is an
//!   error, and never absence: see [`CacheError`]. Whether a missing cache stops the work or only
//!   slows it is the caller's choice: `cache.get(key).await.unwrap_or(None)`.
//! * A write whose reply was lost is settled by a look, or says that it could not be.
//! * A value is checked when it is read: bytes that were changed, or that belong to another key, are
//!   [`Damaged`](CacheError::Damaged).
//! * No log, metric or error holds a key or a value.
//!
//! # Keys
//!
//! A key is 1 to 512 characters, less what stands before it, without white space and control
//! characters. In the store it is `cache:<namespace>:<key>`, which meets no key of a lock or of an
//! idempotent call. Caches of different [namespaces](CacheBuilder::namespace) don't meet either.
//! `semel::core::Key` says more of the grammar; a text that does not keep to it goes in as a digest.
//!
//! # One who computes, and many who wait
//!
//! A value that is dear to make is made by one, in all processes, under a lock:
//!
//! ```
//! # use std::time::Duration;
//! # use semel::{Cache, Locks, cache::TypedCache};
//! # async fn fetch() -> u64 { 7 }
//! async fn rate(
//!     rates: &TypedCache<u64>,
//!     locks: &Locks,
//! ) -> Result<u64, Box<dyn std::error::Error>> {
//!     if let Some(rate) = rates.get("rate").await? {
//!         return Ok(rate);
//!     }
//!     let guard = locks.lock("rate").wait(Duration::from_secs(5)).acquire().await?;
//!     let rate = match rates.get("rate").await? {
//!         Some(rate) => rate, // somebody made it while we waited
//!         None => {
//!             let rate = fetch().await;
//!             rates.set("rate", &rate, Duration::from_secs(600)).await?;
//!             rate
//!         }
//!     };
//!     guard.release().await?;
//!     Ok(rate)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let store = semel::open("memory:").await?;
//! # assert_eq!(rate(&Cache::new(store.clone()).typed(), &Locks::new(store)).await?, 7);
//! # Ok(())
//! # }
//! ```
//!
//! # Other doors
//!
//! * [`Cache::blocking`]: for threads without a runtime.
//! * `CachedStore` (feature `cached`): a store of crate `cached`.
//! * `semel_http::CacheSessionStore` (feature `sessions` of crate `semel-http`): sessions of
//!   `tower-sessions`.
//!
//! # What it costs
//!
//! | | round trips |
//! | --- | --- |
//! | `get`, `refresh` | 1; 2 where a sliding lifetime is renewed |
//! | `set`, `try_add` | 1 |
//! | `try_replace`, `remove`, `try_remove` | 2; 1 where nothing is there |
//! | `keys` | 1 a page |
//!
//! Metrics: `semel_cache_reads_total` by `result` (`hit`, `miss`), `semel_cache_damaged_total`.

mod blocking;
#[cfg(feature = "cached")]
mod cached;
mod engine;
mod entry;
mod error;
#[cfg(feature = "cached")]
mod exchange;
mod keys;
mod lifetime;
mod read;
mod remove;
mod replace;
mod typed;
mod write;

pub use blocking::{BlockingCache, BlockingTypedCache};
#[cfg(feature = "cached")]
pub use cached::CachedStore;
pub use engine::{Cache, CacheBuilder};
pub use error::{CacheError, CacheSettingError};
pub use keys::KeyPage;
pub use lifetime::{Lifetime, LifetimeError};
pub use read::Refreshed;
pub use remove::{Removed, TryRemoved};
pub use replace::TryReplaced;
pub use typed::TypedCache;
pub use write::TryAdded;
