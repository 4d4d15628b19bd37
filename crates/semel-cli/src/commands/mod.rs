//! What the commands do.

mod demo;
mod doctor;
mod fence;
mod job;
mod key;
mod lock;
mod once;
mod pages;
mod store;

pub(crate) use store::shown as shown_url;

use std::io;
use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

use crate::exit::{Exit, Stop};
use crate::output::{self, Log};
use crate::plan::{LockPlans, Plan};

/// Runs the planned command to its end; the code is the program's.
pub(crate) fn run(plan: Plan) -> Result<ExitCode, Stop> {
    let done = |()| ExitCode::SUCCESS;
    match plan {
        Plan::Demo(plan) => served(demo::run(*plan)).map(done),
        Plan::Doctor(url) => served(doctor::run(&url)).map(done),
        Plan::Once(plan) => alone(once::run(*plan)),
        Plan::Key(plan) => alone(key::run(plan)).map(done),
        Plan::Lock(LockPlans::Run(plan)) => alone(lock::run(*plan)),
        Plan::Lock(LockPlans::Other(plan)) => alone(lock::other(plan)).map(done),
        Plan::Fence(plan) => alone(fence::run(plan)).map(done),
        Plan::Man => pages::man().map(done),
        Plan::Completions(shell) => pages::completions(shell).map(done),
    }
}

/// For what serves many: a thread a core, and a log.
fn served<T>(work: impl Future<Output = Result<T, Stop>>) -> Result<T, Stop> {
    output::log(Log::Service);
    in_runtime(Builder::new_multi_thread().enable_all().build(), work)
}

/// For what is started for each job and must start at once: no thread, no log unless it fails.
fn alone<T>(work: impl Future<Output = Result<T, Stop>>) -> Result<T, Stop> {
    output::log(Log::Command);
    in_runtime(Builder::new_current_thread().enable_all().build(), work)
}

fn in_runtime<T>(
    runtime: io::Result<Runtime>,
    work: impl Future<Output = Result<T, Stop>>,
) -> Result<T, Stop> {
    let runtime = runtime.map_err(|error| {
        let wrong = format_args!("the runtime can't start: {error}");
        Stop::new(Exit::OsError, wrong, "it needs threads")
    })?;
    let done = runtime.block_on(work);
    // Work that outlived its time to drain must not hold the exit.
    runtime.shutdown_background();
    done
}
