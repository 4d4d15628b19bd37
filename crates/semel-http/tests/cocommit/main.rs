//! The layer under the guarantee `transactional`, over the stores that have transactions: the
//! handler's rows and the recorded answer commit together, or neither is there.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod examples;
mod kills;
mod postgres;
mod setup;
mod sqlite;
mod suite;
mod support;
