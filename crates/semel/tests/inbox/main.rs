//! The door for messages, over the memory store and over stores that fail; time is the test's own.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod attempts;
mod batch;
mod cancelled;
mod cases;
mod failing_stores;
mod guarantees;
mod identity;
mod states;
mod support;
mod zombies;
