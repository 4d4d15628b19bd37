//! Calls that run once.

mod attach;
mod background;
mod begin;
mod begun;
mod call;
mod claim;
mod engine;
mod finish;
mod give_up;
mod held;
mod operate;
mod reconcile;
mod unsure;

pub use attach::Attached;
pub use begun::{Begun, Busy, Replay, Unprotected};
pub use call::Call;
pub use claim::{Claim, Permit};
pub use engine::{Drained, Once, OnceBuilder};
pub use finish::Finished;
pub use give_up::GivenUp;
pub use held::LossReason;

pub(crate) use held::Held;
