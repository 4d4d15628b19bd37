//! The door, from outside: what a client sees, over a duplex transport and over streamable HTTP.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod answers;
mod cancel;
mod failures;
mod http;
mod keys;
mod pairs;
mod passes;
mod replay;
mod scope;
mod support;
mod tasks;
mod transactional;
mod ways;
mod zombie;
