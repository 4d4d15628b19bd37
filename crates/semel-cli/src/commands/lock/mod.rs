//! `semel lock`: run commands under locks, look at locks, take them away.

mod events;
mod held;
mod list;
mod release;
mod run;
mod show;
mod under;

pub(super) use run::run;

use semel::{LockError, Locks};

use super::store;
use crate::exit::{Exit, Stop};
use crate::plan::{LockAction, LockPlan, StorePlan};

/// What is done to locks besides running something under them.
pub(super) async fn other(plan: LockPlan) -> Result<(), Stop> {
    let locks = Locks::new(store::open_plan(&plan.store).await?);
    let failed = |error: LockError| failed(&plan.store, &error);
    match plan.action {
        LockAction::List { prefix, form } => list::run(&locks, &prefix, form).await.map_err(failed),
        LockAction::Show { resource, form } => show::run(&locks, &resource, form, failed).await,
        LockAction::Release { resource, reason, how } => {
            release::run(&locks, &resource, &reason, how, failed).await
        }
    }
}

/// Why a lock can't be had or looked at, where that is not that somebody holds it.
fn failed(store: &StorePlan, error: &LockError) -> Stop {
    let why = store::with_causes(error);
    match error {
        LockError::Resource(fault) => Stop::new(Exit::Usage, "RESOURCE is refused", fault),
        LockError::Setting(fault) => Stop::new(Exit::Usage, fault, "the flags say otherwise"),
        LockError::OtherKind { .. } => {
            Stop::new(Exit::Usage, why, "a resource is one kind of lock; take another name")
        }
        _ => Stop::new(
            Exit::Unavailable,
            format_args!("the store {store} can't be used: {why}"),
            "`semel doctor` looks at the store",
        ),
    }
}

fn no_such(resource: &str) -> Stop {
    Stop::new(
        Exit::NotSo,
        format_args!("{resource} is not held, and nobody waits for it"),
        "`semel lock ls` lists those that are",
    )
}
