//! The engine, by subject, over the memory store and over stores that fail; time is the test's own.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod attach;
#[cfg(feature = "macros")]
mod attribute;
mod begin;
mod begin_cancelled;
mod begin_failing;
mod expired_keys;
mod finish;
mod finish_later;
mod keeper;
mod keeper_failing;
mod keeper_runtimes;
mod late_owners;
mod open;
mod policy;
mod reconcile;
mod run;
mod run_bytes;
mod run_errors;
mod run_failing;
mod run_keyless;
mod run_status;
mod run_values;
mod secrets;
mod support;
mod wait;
mod wait_failing;
