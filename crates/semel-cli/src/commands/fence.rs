//! `semel fence check`: refuse work under a lock that was lost meanwhile.

use semel::{GateAnswer, StoreGate};
use serde_json::json;

use super::store;
use crate::exit::{Exit, Stop};
use crate::output::{self, Form};
use crate::plan::FencePlan;

pub(super) async fn run(plan: FencePlan) -> Result<(), Stop> {
    let gate = StoreGate::new(store::open_plan(&plan.store).await?);
    let answer = gate.show(&plan.key, plan.fence).await.map_err(|error| {
        Stop::new(
            Exit::Unavailable,
            format_args!(
                "the store {} failed, so the fence has not passed: {}",
                plan.store,
                store::with_causes(&error)
            ),
            "`semel doctor` looks at the store",
        )
    })?;
    let seen = match answer {
        GateAnswer::Refused { seen } => Some(seen),
        _ => None,
    };
    if plan.form == Form::Json {
        let (resource, fence) = (&plan.resource, plan.fence.get());
        output::data(
            &json!({
                "resource": resource,
                "fence": fence,
                "passed": seen.is_none(),
                "seen": seen.map(semel::core::Fence::get),
            })
            .to_string(),
        );
    }
    match seen {
        None => Ok(()),
        Some(_) if plan.form == Form::Json => Err(Stop::silent(Exit::NotSo)),
        Some(seen) => Err(Stop::new(
            Exit::NotSo,
            format_args!("{} has seen fence {seen}, and {} is older", plan.resource, plan.fence),
            "the lock is another's now; this work must not go on",
        )),
    }
}
