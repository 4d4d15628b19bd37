//! `semel key`: what is known of the keys of calls and commands that run once.

mod list;
mod look;
mod settle;
mod show;

use semel::Once;
use semel::core::StoreError;

use super::store;
use crate::exit::{Exit, Stop};
use crate::plan::{KeyAction, KeyPlan, StorePlan};

pub(super) async fn run(plan: KeyPlan) -> Result<(), Stop> {
    let store = store::open_plan(&plan.store).await?;
    let once = Once::new(store);
    let failed = |error: StoreError| failed(&plan.store, &error);
    match plan.action {
        KeyAction::List { prefix, form } => list::run(&once, &prefix, form).await.map_err(failed),
        KeyAction::Show { key, form } => {
            let seen = look::at(&once, &key).await.map_err(failed)?;
            show::run(&key, &seen, form)
        }
        KeyAction::Resolve { key, settlement } => {
            settle::resolve(&once, &key, settlement, failed).await
        }
        KeyAction::Forget { key, owner } => settle::forget(&once, &key, owner, failed).await,
    }
}

fn failed(store: &StorePlan, error: &StoreError) -> Stop {
    Stop::new(
        Exit::Unavailable,
        format_args!("the store {store} failed: {}", store::with_causes(error)),
        "`semel doctor` looks at the store",
    )
}

fn no_such(key: &semel::Key) -> Stop {
    Stop::new(
        Exit::NotSo,
        format_args!("there is no key {key}"),
        "`semel key ls` lists those that there are",
    )
}
