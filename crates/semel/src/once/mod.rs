//! Calls that run once.

mod another_door;
mod attach;
mod background;
mod begin;
mod begin_in_transaction;
mod begun;
mod call;
mod claim;
mod commit;
mod engine;
mod finish;
mod finished;
mod give_up;
mod held;
mod in_transaction;
mod operate;
mod permit;
mod reconcile;
mod turns;
mod unsure;

pub use attach::Attached;
pub use begun::{Begun, Busy, Replay, Unprotected};
pub use call::Call;
pub use claim::Claim;
pub use engine::{Drained, Once, OnceBuilder};
pub use finished::{Finished, NotCommitted};
pub use give_up::GivenUp;
pub use held::LossReason;
pub use permit::{Permit, Protection};

pub(crate) use begun::refused_by;
pub(crate) use held::Held;
