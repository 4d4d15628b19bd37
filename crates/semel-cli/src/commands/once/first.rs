//! The first run under a key.

use std::process::ExitCode;
use std::time::Duration;

use semel::{Claim, Drained, Finished, GivenUp, Once, Permit};

use super::record::Run;
use crate::child::{Ended, Gone, Launch, Output, Signals, Supervisor, Tenure, Terms};
use crate::commands::job;
use crate::exit::Stop;
use crate::output;
use crate::plan::OncePlan;

/// How long we try to record what came of it when the store is away.
const RECORDING: Duration = Duration::from_secs(60);

pub(super) async fn run(
    plan: &OncePlan,
    once: &Once,
    claim: Claim,
    signals: &mut Signals,
) -> Result<ExitCode, Stop> {
    let launch = Launch {
        program: plan.command.program.clone(),
        args: plan.command.args.clone(),
        environment: Vec::new(),
        output: Output::Piped,
    };
    let tenure = Claimed(claim.permit());
    let terms = Terms::without_end(plan.kill_after);
    let started = launch.prepare().and_then(|prepared| {
        Supervisor::start(prepared, Vec::new(), terms, plan.max_output, &tenure, signals)
    });
    let supervisor = match started {
        Ok(supervisor) => supervisor,
        Err(error) => {
            give_back(once, claim).await;
            return Err(job::not_started(&error));
        }
    };
    // If this fails nobody knows how it ended: the claim is dropped, and in doubt after its lease.
    let ended = supervisor.run().await.map_err(|error| job::not_watched(&error))?;
    if let Some(why) = &ended.not_run {
        give_back(once, claim).await;
        return Err(job::not_run(&launch, why));
    }
    if let Some(Gone::Lost { .. }) = ended.gone {
        output::prose("semel: the key was taken away while the command ran");
    }
    let (end, key) = (ended.end, ended.key);
    record(plan, once, claim, ended).await;
    job::as_the_command(end, key)
}

async fn record(plan: &OncePlan, once: &Once, mut claim: Claim, ended: Ended) {
    let run = Run::of(ended);
    let (outcome, less) = (run.outcome(), run.without_output().outcome());
    let key = &plan.key;
    match claim.record_or(outcome, || less).await {
        Finished::Recorded => {}
        Finished::RecordedInPart => output::prose(&format!(
            "semel: {key} is recorded without what it printed: the store has no room for that"
        )),
        Finished::Pending => {
            output::prose(&format!("semel: {key} can't be recorded yet; trying on"));
            if once.drain(RECORDING).await != Drained::All {
                unrecorded(key);
            }
        }
        Finished::Superseded(_) => output::prose(&format!(
            "semel: {key} was settled or forgotten by somebody while the command ran; what came \
             of it is not recorded"
        )),
        Finished::Unrecorded | Finished::NotCommitted(_) => unrecorded(key),
    }
}

fn unrecorded(key: &str) {
    output::prose(&format!(
        "semel: what came of {key} could not be recorded: it will be in doubt\n       \
         `semel key resolve {key} --done CODE` settles it"
    ));
}

/// The command did nothing: its key is free.
async fn give_back(once: &Once, claim: Claim) {
    if claim.release().await == GivenUp::Pending {
        once.drain(super::LAST).await;
    }
}

/// A claim on a key, as the supervisor sees it. It does not end by itself: nobody takes it over,
/// and a command whose effect is under way had better come to its end.
struct Claimed(Permit);

impl Tenure for Claimed {
    fn remaining(&self) -> Option<Duration> {
        None
    }

    async fn lost(&self) -> Gone {
        Gone::Lost { why: format!("{:?}", self.0.lost().await), now: false }
    }
}
