//! `semel once`: a command that runs at most once per key.

mod first;
mod record;
mod repeat;

pub(super) use record::Run;

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::Duration;

use semel::core::{Fingerprint, PartHasher};
use semel::{Begun, Call, Once, Problem, ProblemKind, Scope};

use super::{job, store};
use crate::exit::{Exit, Stop};
use crate::plan::{CommandLine, OncePlan, SameCommand};

/// How long what is given back at the end may take.
const LAST: Duration = Duration::from_secs(2);

pub(super) async fn run(plan: OncePlan) -> Result<ExitCode, Stop> {
    let mut signals = job::signals()?;
    let once = Once::new(store::open_plan(&plan.store).await?);
    let call = call(&plan)?;
    let begun = tokio::select! {
        begun = once.begin(&call) => begun,
        signal = signals.deadly() => {
            once.drain(LAST).await;
            return Err(job::by_signal(signal));
        }
    };
    match begun {
        Begun::Fresh(claim) => first::run(&plan, &once, claim, &mut signals).await,
        Begun::Replay(replay) => repeat::print(&plan.key, &replay.outcome),
        Begun::Busy(_) => Err(busy(&plan.key)),
        Begun::Refused(problem) => Err(refused(&plan, &problem)),
        Begun::Unprotected(_) => Err(unavailable(&plan)),
    }
}

fn call(plan: &OncePlan) -> Result<Call, Stop> {
    let call = Call::new(&plan.policy, &Scope::anonymous(), &plan.key, plan.operation.clone())
        .map_err(|problem| refused(plan, &problem))?;
    Ok(match plan.same_command {
        SameCommand::Required => call.with_fingerprint(fingerprint(&plan.command)),
        SameCommand::NotRequired => call,
    })
}

/// What must be the same at a repeat: the program and its arguments.
fn fingerprint(command: &CommandLine) -> Fingerprint {
    let mut hasher = PartHasher::new();
    hasher.field(command.program.as_bytes());
    for arg in &command.args {
        hasher.field(arg.as_bytes());
    }
    Fingerprint::builder().digest("command", hasher.finish()).build()
}

fn busy(key: &str) -> Stop {
    Stop::new(
        Exit::Busy,
        format_args!("{key} runs elsewhere, and has not ended yet"),
        "a longer --wait waits for what it prints",
    )
}

fn refused(plan: &OncePlan, problem: &Problem) -> Stop {
    let key = &plan.key;
    match problem.kind() {
        ProblemKind::InProgress { .. } => busy(key),
        ProblemKind::InDoubt { since } => Stop::new(
            Exit::Lost,
            format_args!(
                "{key} is in doubt: a run began, nothing was heard of it since {}, and nobody \
                 knows how far it came",
                crate::output::clock_time(*since)
            ),
            format_args!(
                "look what it did, then say `semel key resolve {key} --done CODE`, or `--free` to \
                 let it run"
            ),
        ),
        ProblemKind::KeyReused { recorded, .. } => Stop::new(
            Exit::KeyReused,
            format_args!("{key} was used for something else: {recorded}"),
            "each job takes a key of its own",
        ),
        ProblemKind::PayloadMismatch { .. } => Stop::new(
            Exit::KeyReused,
            format_args!("{key} was used for another command, or for other arguments"),
            "each job takes a key of its own; --any-command takes the record whatever it is of",
        ),
        ProblemKind::KeyInvalid { .. } => {
            Stop::new(Exit::Usage, "KEY is refused", problem.detail(semel::Language::English))
        }
        ProblemKind::ResponseUnavailable => repeat::not_kept(key, None),
        _ => unavailable(plan),
    }
}

fn unavailable(plan: &OncePlan) -> Stop {
    Stop::new(
        Exit::Unavailable,
        format_args!("the store {} can't be used, so nothing was run", plan.store),
        "RUST_LOG=error says why; `semel doctor` looks at the store",
    )
}
