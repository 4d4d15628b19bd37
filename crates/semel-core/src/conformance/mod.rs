//! The suite that every store and every wrapper passes, case by named case.
//!
//! A store says how it is made in a [`Fixture`] and writes one line:
//!
//! ```ignore
//! async fn fixture() -> MyFixture { … }
//! semel_core::conformance!(fixture);
//! ```
//!
//! This makes a module `conformance` with one `#[tokio::test]` for each of [`CASES`], each on a
//! fixture of its own. All come from one list, so no store can leave one out. The crate that
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
