//! Idempotency for the tools of MCP servers.

mod around;
mod call;
mod choices;
mod door;
mod exchange;
mod handler;
mod key;
mod marks;
mod refusal;
mod span;
mod stored;
mod tools;

pub use choices::{Failures, Protection, Tools};
pub use handler::Idempotent;
pub use tools::IdempotentTools;
