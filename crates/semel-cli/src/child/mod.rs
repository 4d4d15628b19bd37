//! A command that is run under something that can be lost: a lock, or a claim on a key.
//!
//! ```text
//!   semel ── starts ──> trampoline ── exec ──> CMD ──> its children, one process group
//!     │                    │ dies with semel (Linux: PDEATHSIG)      ^
//!     └── pipe ──> guardian (a group of its own) ──── kills ─────────┘
//! ```
//!
//! * The *trampoline* is this binary in another role. It ties its life to ours, waits until the
//!   group is known to the guardian, then becomes CMD.
//! * The *guardian* is this binary in a third role. It kills the group when the pipe breaks
//!   without a word (we are gone), and at the deadline that it was last told (we are stopped, or
//!   the machine slept).
//! * [`Supervisor`] is the event loop between: signals, the terminal, the deadline, the end.
//!
//! Nothing here knows of stores. What the command runs under is a [`Tenure`].

mod alarm;
mod begin;
mod capture;
mod ending;
mod group;
mod guardian;
mod job;
mod moment;
mod order;
mod signals;
#[cfg(target_os = "linux")]
mod stat;
mod status;
mod supervisor;
mod tenure;
mod terminal;
mod this_program;
mod trampoline;
mod ward;

pub(crate) use begin::{Environment, Launch, Output, Prepared};
pub(crate) use capture::{Captured, Chunk, Stream};
pub(crate) use job::InterruptKey;
pub(crate) use signals::Signals;
pub(crate) use status::{End, Ended, NotRun};
pub(crate) use supervisor::Supervisor;
pub(crate) use tenure::{Gone, OnLost, Tenure, Terms};

use std::ffi::OsString;
use std::process::ExitCode;

/// The first argument of this binary in another role. Nobody types it.
const TRAMPOLINE: &str = "__child";
const GUARDIAN: &str = "__guard";

/// Plays the role that the first argument names, if it names one. It stands before everything
/// else in `main`: what it costs, each start of a command costs.
pub(crate) fn role(mut args: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let role = args.nth(1)?;
    if role == TRAMPOLINE {
        return Some(trampoline::run(args));
    }
    (role == GUARDIAN).then(guardian::run)
}
