//! The layer under the guarantee `transactional`, over the stores that have transactions: the
//! handler's rows and the recorded answer commit together, or neither is there.

mod examples;
mod kills;
mod postgres;
mod setup;
mod sqlite;
mod suite;
mod support;
