//! What is to be done, resolved and checked: a plan that starts can't fail for
//! a wrong flag any more.

mod command;
mod demo;
mod fence;
mod flag;
mod key;
mod listen;
mod lock;
mod once;
mod policy;
mod store;

pub(crate) use command::CommandLine;
pub(crate) use demo::DemoPlan;
pub(crate) use fence::FencePlan;
pub(crate) use key::{KeyAction, KeyPlan, Settlement, WHOLE as WHOLE_KEYS};
pub(crate) use lock::{LockAction, LockPlan, LockPlans, LockRunPlan};
pub(crate) use once::{OPERATION as ONCE_OPERATION, OncePlan, SameCommand};
pub(crate) use policy::Policies;
pub(crate) use store::StorePlan;

use clap_complete::Shell;

use crate::args::{Args, CommandArgs};
use crate::exit::Stop;

/// A command with everything it needs to know.
#[derive(Debug)]
pub(crate) enum Plan {
    Demo(Box<DemoPlan>),
    /// The URL of the store to examine.
    Doctor(String),
    Once(Box<OncePlan>),
    Key(KeyPlan),
    Lock(LockPlans),
    Fence(FencePlan),
    Man,
    Completions(Shell),
}

/// Resolves what was written; the error names the flag, what it got and what
/// it takes.
pub(crate) fn resolve(args: Args) -> Result<Plan, Stop> {
    match args.command {
        CommandArgs::Demo(args) => DemoPlan::resolve(*args).map(Box::new).map(Plan::Demo),
        CommandArgs::Doctor(args) => Ok(Plan::Doctor(args.store)),
        CommandArgs::Once(args) => OncePlan::resolve(*args).map(Box::new).map(Plan::Once),
        CommandArgs::Key(args) => KeyPlan::resolve(args).map(Plan::Key),
        CommandArgs::Lock(args) => LockPlans::resolve(args).map(Plan::Lock),
        CommandArgs::Fence(args) => FencePlan::resolve(args).map(Plan::Fence),
        CommandArgs::Man(_) => Ok(Plan::Man),
        CommandArgs::Completions(args) => Ok(Plan::Completions(args.shell)),
    }
}
