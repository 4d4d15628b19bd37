//! The plan of `semel once`.

use std::sync::Arc;
use std::time::Duration;

use semel::{Guarantee, InFlight, Operation, Policy, PolicyError, RetryAfter};

use super::flag::Flag;
use super::{CommandLine, StorePlan};
use crate::args::OnceArgs;
use crate::args::duration::Shown;
use crate::exit::{Exit, Stop};

/// What a command that runs once does, for the record.
pub(crate) const OPERATION: &str = "semel once";

/// How long a run blocks its key after a crash, before it is known to be in doubt.
const LEASE: Duration = Duration::from_secs(10);
/// A command may take as long as it likes.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Everything that `semel once` needs to know.
#[derive(Debug)]
pub(crate) struct OncePlan {
    pub(crate) key: String,
    pub(crate) policy: Arc<Policy>,
    pub(crate) operation: Operation,
    pub(crate) same_command: SameCommand,
    pub(crate) max_output: usize,
    pub(crate) kill_after: Duration,
    pub(crate) command: CommandLine,
    pub(crate) store: StorePlan,
}

/// Whether a repeat must be of the same command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SameCommand {
    Required,
    NotRequired,
}

impl OncePlan {
    pub(crate) fn resolve(args: OnceArgs) -> Result<Self, Stop> {
        let wait = time("--wait", &args.wait)?;
        let keep = given("--keep", &args.keep).positive_time()?.unwrap_or_default();
        let max_output = given("--max-output", &args.max_output).bytes()?.unwrap_or_default();
        let kill_after = given("--kill-after", &args.kill_after).time()?.unwrap_or_default();
        let operation =
            Operation::new(OPERATION).map_err(|error| Stop::plain(Exit::Usage, error))?;
        Ok(Self {
            policy: policy(wait, keep)?,
            operation,
            same_command: if args.any_command {
                SameCommand::NotRequired
            } else {
                SameCommand::Required
            },
            max_output,
            kill_after,
            command: CommandLine::of(args.command),
            store: StorePlan::resolve(args.store)?,
            key: args.key,
        })
    }
}

fn policy(wait: Duration, keep: Duration) -> Result<Arc<Policy>, Stop> {
    let in_flight = if wait.is_zero() { InFlight::Reject } else { InFlight::Wait(wait) };
    Policy::builder()
        .guarantee(Guarantee::AtMostOnce)
        .in_flight(in_flight)
        .retry_after(RetryAfter::Off)
        .in_progress_time_to_live(LEASE.min(keep))
        .max_execution(LONGEST)
        .time_to_live(keep)
        .build()
        .map(Arc::new)
        .map_err(|error| refused(&error))
}

/// The flags are called otherwise than the settings behind them.
fn refused(error: &PolicyError) -> Stop {
    match error {
        PolicyError::TooLong { setting, got, limit } => {
            let flag = if setting.contains("wait") { "--wait" } else { "--keep" };
            let most = format_args!("it must be at most {}", Shown(*limit)).to_string();
            Stop::flag(flag, &Shown(*got).to_string(), most)
        }
        other => Stop::new(Exit::Usage, "these times don't go together", other),
    }
}

fn given<'a>(name: &'static str, value: &'a str) -> Flag<'a> {
    Flag { name, value: Some(value) }
}

fn time(name: &'static str, value: &str) -> Result<Duration, Stop> {
    // There is a default, so there is a value.
    Ok(given(name, value).time()?.unwrap_or_default())
}
