//! What the commands do.

mod demo;
mod doctor;
mod store;

use crate::exit::{Exit, Stop};
use crate::plan::Plan;

/// Runs the planned command to its end.
pub(crate) fn run(plan: Plan) -> Result<(), Stop> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
            Stop::new(
                Exit::OsError,
                format_args!("the runtime can't start: {error}"),
                "it needs threads",
            )
        })?;
    let done = match plan {
        Plan::Demo(plan) => runtime.block_on(demo::run(*plan)),
        Plan::Doctor(url) => runtime.block_on(doctor::run(&url)),
    };
    // Work that outlived its time to drain must not hold the exit.
    runtime.shutdown_background();
    done
}
