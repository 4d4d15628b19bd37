//! Faults that users of other systems ran into, each as one small test from outside: HTTP through
//! the layer, functions through `Once`, records through the public codec.
//!
//! A test is named by the id of its case and opens with the story of the fault; what it asserts is
//! the right behaviour. `docs/cases.md` lists all cases, with where each is tested.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod axum_idempotent;
mod claims;
mod dbos;
mod disconnects;
mod fiber;
mod idempotent_api;
mod ietf;
mod late_owners;
mod ownership;
mod policies;
mod powertools;
mod proxies;
mod records;
mod restate;
mod rust_crates;
mod stripe;
mod support;
