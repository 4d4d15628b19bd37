//! The order service through gRPC: the same data, the same accounts, the same records.

mod asked;
mod authenticate;
mod crossing;
mod executions;
mod face;
mod orders;
mod panics;
mod payments;
mod proto;
mod routes;
mod status;

pub(crate) use crossing::crossings;
pub(crate) use face::{Face, serve};
