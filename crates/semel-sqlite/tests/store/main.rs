//! What is this store's own: its file, its threads, its neighbours, its ends.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batches;
mod cancelling;
mod child;
mod closing;
mod crashes;
mod damage;
mod full;
mod hints;
mod listing;
mod model;
mod opening;
mod processes;
mod support;
mod time;
