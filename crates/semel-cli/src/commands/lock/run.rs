//! `semel lock run`: a command under a lock.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use semel::core::Owner;
use semel::{
    AcquiredWithin, HeldBy, LockBuilder, LockError, LockGuard, LockLoss, Locks, ReleaseOutcome,
    TryAcquired,
};

use super::events::Events;
use super::under::Under;
use super::{failed, held};
use crate::child::{Ended, Gone, Launch, OnLost, Output, Signals, Supervisor};
use crate::commands::{job, store};
use crate::exit::{Exit, Stop};
use crate::plan::LockRunPlan;

/// How long what is given back at the end may take.
const LAST: Duration = Duration::from_secs(2);

pub(in crate::commands) async fn run(plan: LockRunPlan) -> Result<ExitCode, Stop> {
    let mut signals = job::signals()?;
    let locks = Locks::new(store::open_plan(&plan.store).await?);
    let events = Events { form: plan.events, resource: &plan.resource };
    let acquired = tokio::select! {
        acquired = acquire(&plan, &locks) => acquired.map_err(|error| failed(&plan.store, &error)),
        signal = signals.deadly() => {
            locks.shutdown(LAST).await;
            return Ok(job::by_signal(signal));
        }
    };
    let guard = match acquired? {
        Ok(guard) => guard,
        Err(by) => {
            events.held(&held::line(&by));
            return Err(Stop::silent(Exit::Chosen(plan.conflict)));
        }
    };
    events.acquired(&guard);
    let code = work(&plan, &guard, &mut signals, events).await;
    release(&guard, events).await;
    drop(guard);
    locks.shutdown(LAST).await;
    code
}

/// The lock, or who has it.
async fn acquire(
    plan: &LockRunPlan,
    locks: &Locks,
) -> Result<Result<LockGuard, HeldBy>, LockError> {
    let builder = builder(plan, locks);
    match plan.wait {
        Some(wait) if !wait.is_zero() => match builder.acquire_within(wait).await? {
            AcquiredWithin::Acquired(guard) => Ok(Ok(guard)),
            AcquiredWithin::TimedOut(by) => Ok(Err(by)),
        },
        _ => match builder.try_acquire().await? {
            TryAcquired::Acquired(guard) => Ok(Ok(guard)),
            TryAcquired::Held(by) => Ok(Err(by)),
        },
    }
}

fn builder(plan: &LockRunPlan, locks: &Locks) -> LockBuilder {
    let builder = locks
        .lock(&plan.resource)
        .ttl(plan.ttl)
        .renewed()
        .min_hold(plan.min_hold)
        .lock_delay(plan.lock_delay);
    let builder = match plan.max_hold {
        Some(max_hold) => builder.max_hold(max_hold),
        None => builder,
    };
    match &plan.owner {
        Some(owner) => builder.owner(Owner::new(owner)),
        None => builder,
    }
}

/// Runs the command; the code is what the program ends with.
async fn work(
    plan: &LockRunPlan,
    guard: &LockGuard,
    signals: &mut Signals,
    events: Events<'_>,
) -> Result<ExitCode, Stop> {
    let launch = launch(plan, guard);
    let under = Under(guard);
    let supervisor = Supervisor::start(&launch, plan.terms, 0, &under, signals)
        .map_err(|error| job::not_started(&error))?;
    let ended = supervisor.run().await.map_err(|error| job::not_watched(&error))?;
    if let Some(why) = &ended.not_run {
        return Err(job::not_run(&launch, why));
    }
    let code = ended.end.code();
    match loss(plan, guard, &ended) {
        None => {
            events.ended(code);
            Ok(ExitCode::from(code))
        }
        Some(why) => {
            let what = match plan.terms.on_lost {
                OnLost::Ignore => format!("the command ran on without it, and ended with {code}"),
                OnLost::Term | OnLost::Kill => "the command was ended".to_owned(),
            };
            events.lost(&why, &what);
            Ok(Exit::Lost.code())
        }
    }
}

fn launch(plan: &LockRunPlan, guard: &LockGuard) -> Launch {
    let token = guard.token().as_bytes().iter().fold(String::new(), |mut hex, byte| {
        // Writing into a String can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    Launch {
        program: plan.command.program.clone(),
        args: plan.command.args.clone(),
        environment: vec![
            ("SEMEL_LOCK_RESOURCE", plan.resource.clone()),
            ("SEMEL_LOCK_TOKEN", token),
            ("SEMEL_LOCK_FENCE", guard.fence().to_string()),
        ],
        output: Output::Inherited,
    }
}

/// Why the lock was lost while the command ran, if it was. Where it was lost by the time we learnt
/// of the command's end, nobody can say that it ended in time.
fn loss(plan: &LockRunPlan, guard: &LockGuard, ended: &Ended) -> Option<String> {
    match (&ended.gone, guard.loss()) {
        (Some(Gone::Lost { why, .. }), _) => Some(why.clone()),
        (_, Some(loss)) => Some(loss.to_string()),
        (Some(Gone::Expiring), None) if is_held_out(plan, ended) => {
            Some(LockLoss::MaxHold.to_string())
        }
        (Some(Gone::Expiring), None) => Some("it could not be renewed in time".to_owned()),
        (None, None) => None,
    }
}

/// Whether the end of `--max-hold` is why nothing was renewed any more.
fn is_held_out(plan: &LockRunPlan, ended: &Ended) -> bool {
    plan.max_hold.is_some_and(|max_hold| ended.ran + plan.ttl >= max_hold)
}

async fn release(guard: &LockGuard, events: Events<'_>) {
    let trouble = match guard.release().await {
        Ok(
            ReleaseOutcome::Released
            | ReleaseOutcome::AlreadyReleased
            | ReleaseOutcome::ForceReleased { .. },
        ) => None,
        // That was told before.
        Ok(_) if guard.is_lost() => None,
        Ok(outcome) => Some(format!("the lock was gone before it was released: {outcome:?}")),
        Err(error) => Some(format!(
            "the lock could not be released, and is free when its lease ends: {}",
            store::with_causes(&error)
        )),
    };
    events.released(trouble.as_deref());
}
