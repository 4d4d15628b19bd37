//! The layer under a tonic server, asked by tonic clients over TCP.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod crossing;
mod hang_up;
mod in_flight;
mod methods;
mod refusals;
mod replay;
mod statuses;
mod store_down;
mod stores;
mod streams;
mod support;
mod transactional;
mod zombie;
