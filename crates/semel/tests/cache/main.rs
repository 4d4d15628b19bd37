//! The cache over the memory store, by a clock that the tests move.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod blocking;
#[cfg(feature = "cached")]
mod cached;
mod failing;
mod histories;
mod lifetimes;
mod listing;
mod support;
mod typed;
mod values;
