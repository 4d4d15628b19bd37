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
use crate::child::{
    Ended, Environment, Gone, Launch, OnLost, Output, Prepared, Signals, Supervisor,
};
use crate::commands::{job, store};
use crate::exit::{Exit, Stop};
use crate::plan::LockRunPlan;

/// How long what is given back at the end may take.
const LAST: Duration = Duration::from_secs(2);

pub(in crate::commands) async fn run(plan: LockRunPlan) -> Result<ExitCode, Stop> {
    let mut signals = job::signals()?;
    let launch = launch(&plan);
    // Who does not wait gets the lock at once, or not: the command may as well be ready by then.
    let ready = if plan.waits() { None } else { Some(prepare(&launch)?) };
    let (locks, guard) = match lock(&plan, &mut signals).await {
        Ok(acquired) => acquired,
        Err(stop) => {
            if let Some(ready) = ready {
                ready.call_off();
            }
            return Err(stop);
        }
    };
    let events = events(&plan);
    events.acquired(&guard);
    let code = match ready.map_or_else(|| prepare(&launch), Ok) {
        Ok(ready) => work(&plan, &launch, ready, &guard, &mut signals).await,
        Err(stop) => Err(stop),
    };
    release(&guard, events).await;
    drop(guard);
    locks.shutdown(LAST).await;
    code
}

fn events(plan: &LockRunPlan) -> Events<'_> {
    Events { form: plan.events, resource: &plan.resource }
}

fn prepare(launch: &Launch) -> Result<Prepared, Stop> {
    launch.prepare().map_err(|error| job::not_started(&error))
}

/// The lock, or why there is none.
async fn lock(plan: &LockRunPlan, signals: &mut Signals) -> Result<(Locks, LockGuard), Stop> {
    let store = store::open_plan(&plan.store).await?;
    let locks = Locks::new(store);
    let acquired = tokio::select! {
        acquired = acquire(plan, &locks) => {
            acquired.map_err(|error| failed(&plan.store, &error))?
        }
        signal = signals.deadly() => {
            locks.shutdown(LAST).await;
            return Err(job::by_signal(signal));
        }
    };
    match acquired {
        Ok(guard) => Ok((locks, guard)),
        Err(by) => {
            events(plan).held(&held::line(&by));
            Err(Stop::silent(Exit::Chosen(plan.conflict)))
        }
    }
}

/// The lock, or who has it.
async fn acquire(
    plan: &LockRunPlan,
    locks: &Locks,
) -> Result<Result<LockGuard, HeldBy>, LockError> {
    let builder = builder(plan, locks);
    match plan.wait.filter(|_| plan.waits()) {
        Some(wait) => match builder.acquire_within(wait).await? {
            AcquiredWithin::Acquired(guard) => Ok(Ok(guard)),
            AcquiredWithin::TimedOut(by) => Ok(Err(by)),
        },
        None => match builder.try_acquire().await? {
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
    launch: &Launch,
    ready: Prepared,
    guard: &LockGuard,
    signals: &mut Signals,
) -> Result<ExitCode, Stop> {
    let under = Under(guard);
    let supervisor = Supervisor::start(ready, of_grant(guard), plan.terms, 0, &under, signals)
        .map_err(|error| job::not_started(&error))?;
    let ended = supervisor.run().await.map_err(|error| job::not_watched(&error))?;
    if let Some(why) = &ended.not_run {
        return Err(job::not_run(launch, why));
    }
    let code = ended.end.code();
    match loss(plan, guard, &ended) {
        None => {
            events(plan).ended(code);
            job::as_the_command(ended.end, ended.key)
        }
        Some(why) => {
            let what = match plan.terms.on_lost {
                OnLost::Ignore => format!("the command ran on without it, and ended with {code}"),
                OnLost::Term | OnLost::Kill => "the command was ended".to_owned(),
            };
            events(plan).lost(&why, &what);
            Ok(Exit::Lost.code())
        }
    }
}

fn launch(plan: &LockRunPlan) -> Launch {
    Launch {
        program: plan.command.program.clone(),
        args: plan.command.args.clone(),
        environment: vec![("SEMEL_LOCK_RESOURCE", plan.resource.clone())],
        output: Output::Inherited,
    }
}

/// What is known once the lock is had.
fn of_grant(guard: &LockGuard) -> Environment {
    let token = guard.token().as_bytes().iter().fold(String::new(), |mut hex, byte| {
        // Writing into a String can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    vec![("SEMEL_LOCK_TOKEN", token), ("SEMEL_LOCK_FENCE", guard.fence().to_string())]
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
