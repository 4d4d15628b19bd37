//! Calls that run once.

mod attach;
mod begin;
mod claim;
mod engine;
mod finish;
mod held;

pub use attach::Attached;
pub use begin::{Begun, Busy, Call, Replay, Unprotected};
pub use claim::{Claim, Permit};
pub use engine::{Drained, Once, OnceBuilder};
pub use finish::Finished;
pub use held::LossReason;

pub(crate) use held::Held;
