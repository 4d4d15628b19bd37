//! The suite that every store and every wrapper passes, case by named case.
//!
//! A store says how it is made in a [`Fixture`], and one line does the rest:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use semel_core::conformance::{Abilities, Fixture, Reopen, Task};
//! use semel_core::{ManualClock, MemoryStore, Store, StoreTime};
//!
//! struct Memory {
//!     clock: Arc<ManualClock>,
//!     store: MemoryStore,
//! }
//!
//! #[async_trait::async_trait]
//! impl Fixture for Memory {
//!     fn store(&self) -> Arc<dyn Store> {
//!         Arc::new(self.store.clone())
//!     }
//!
//!     async fn second_handle(&self) -> Arc<dyn Store> {
//!         Arc::new(self.store.clone())
//!     }
//!
//!     async fn pass(&self, by: Duration) {
//!         self.clock.advance(by);
//!     }
//!
//!     async fn reopen(&self) -> Reopen {
//!         Reopen::Volatile(Arc::new(MemoryStore::new(Arc::clone(&self.clock))))
//!     }
//!
//!     fn spawn(&self, task: Task) -> Task {
//!         let running = tokio::spawn(task);
//!         Box::pin(async move { running.await.expect("a task of a case") })
//!     }
//!
//!     fn abilities(&self) -> Abilities {
//!         Abilities::full(4 << 20, Duration::from_secs(1))
//!     }
//! }
//!
//! async fn fixture() -> Memory {
//!     let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_790_000_000_000_000)));
//!     Memory { store: MemoryStore::new(Arc::clone(&clock)), clock }
//! }
//!
//! semel_core::conformance!(fixture);
//! # #[tokio::main]
//! # async fn main() {
//! #     let case = "races::of_64_claims_one_wins_and_the_others_see_its_value";
//! #     semel_core::conformance::run(case, &fixture().await).await;
//! # }
//! ```
//!
//! The line makes a module `conformance` with one `#[tokio::test]` for each of [`CASES`], each on
//! a fixture of its own. All come from one list, so no store can leave one out. The crate that
//! writes the line needs `tokio` with `macros` and `rt-multi-thread`; this one has no runtime.
//!
//! What a store can't do it declares in [`Abilities`] and [`Reopen`], and the suite asserts just
//! that: a store that says "my hints reach nobody" fails when they do.
//!
//! # How cases deal with time
//!
//! Every case is right on a clock that stands still as well as on one that runs: what must be
//! there is worked out from the store's own `now` in each answer, to the microsecond. Where a
//! deadline has to pass, the case asks [`Fixture::pass`] and checks that the store's clock moved.

mod cancel;
#[macro_use]
mod cases;
mod deadlines;
mod fixture;
mod hints;
mod limits;
mod races;
mod reopen;
mod scan;
mod sliding;
mod support;
mod swap;
mod swap_lapsed;
mod sweep;
mod versions;
mod watchdog;

pub use cases::{CASES, run};
pub use fixture::{Abilities, Fixture, HintReach, Reopen, Sweeping, Task};
