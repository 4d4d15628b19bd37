//! What the tests share.

mod bench;
pub(crate) mod faults;
mod process;
mod running;
#[path = "../../demo/support/signals.rs"]
mod signals;
mod terminal;
#[path = "../../demo/support/wait.rs"]
mod wait;

pub(crate) use bench::{Bench, Done};
pub(crate) use process::{Process, is_alive};
pub(crate) use running::Running;
pub(crate) use terminal::{Terminal, shell};
pub(crate) use wait::{pause, until, within};
