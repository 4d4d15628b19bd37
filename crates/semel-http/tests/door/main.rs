//! The layer, from outside: what a caller sees, row by row of the contract.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod bad_input;
mod disconnect;
mod doubt;
mod failures;
mod fingerprint;
mod histories;
mod in_flight;
mod logs;
mod nesting;
mod oversized;
mod presets;
mod problems;
mod readiness;
mod recorded_form;
mod replay;
mod routes;
mod scope;
mod selections;
mod settings;
mod store_down;
mod streams;
mod support;
mod wire;
mod zombie;
