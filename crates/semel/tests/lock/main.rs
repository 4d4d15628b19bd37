//! Locks, over the memory store in paused time unless a test says otherwise.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod acquire;
mod all;
mod bounds;
mod cancel;
mod counter;
mod daily_report;
mod elect;
mod fences;
mod force;
mod kinds;
mod losing;
mod losing_store;
mod release;
mod scope;
mod shutdown;
mod support;
mod ticket;
mod waiting;
mod waiting_failing;
mod worker_ids;
