//! Faults that users of other systems ran into, of functions over every store: real servers, real
//! time, several engines as several processes would have them, and processes that are killed.
//!
//! A test is named by the id of its case and opens with the story of the fault; what it asserts is
//! the right behaviour. `docs/cases.md` lists all cases, with where each is tested.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod dbos;
mod idempotent_api;
mod late_owners;
mod powertools;
mod processes;
mod support;
