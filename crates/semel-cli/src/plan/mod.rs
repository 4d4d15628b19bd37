//! What is to be done, resolved and checked: a plan that starts can't fail for
//! a wrong flag any more.

mod demo;
mod flag;
mod listen;
mod policy;

pub(crate) use demo::DemoPlan;
pub(crate) use policy::Policies;

use crate::args::{Args, CommandArgs};
use crate::exit::Stop;

/// A command with everything it needs to know.
#[derive(Debug)]
pub(crate) enum Plan {
    Demo(Box<DemoPlan>),
    /// The URL of the store to examine.
    Doctor(String),
}

/// Resolves what was written; the error names the flag, what it got and what
/// it takes.
pub(crate) fn resolve(args: Args) -> Result<Plan, Stop> {
    match args.command {
        CommandArgs::Demo(args) => DemoPlan::resolve(*args).map(Box::new).map(Plan::Demo),
        CommandArgs::Doctor(args) => Ok(Plan::Doctor(args.store)),
    }
}
