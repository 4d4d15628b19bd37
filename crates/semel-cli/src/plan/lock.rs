//! The plan of `semel lock`.

use std::time::Duration;

use semel::core::protocol::lock::ForceHow;

use super::flag::{Flag, flag};
use super::{CommandLine, StorePlan};
use crate::args::duration::Shown;
use crate::args::{
    LockArgs, LockCommand, LockLsArgs, LockReleaseArgs, LockRunArgs, LockShowArgs, OnLostWord,
    StoreArgs,
};
use crate::child::{OnLost, Terms};
use crate::exit::Stop;
use crate::output::Form;

/// From a SIGTERM that was passed on to SIGKILL, unless a flag says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest time from SIGTERM to SIGKILL when a lock is lost, unless a flag says otherwise.
const MOST_GRACE: Duration = Duration::from_secs(10);
/// What dying takes, at least and at most.
const MARGIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Everything that `semel lock run` needs to know.
#[derive(Debug)]
pub(crate) struct LockRunPlan {
    pub(crate) resource: String,
    pub(crate) ttl: Duration,
    /// None does not wait.
    pub(crate) wait: Option<Duration>,
    pub(crate) min_hold: Duration,
    pub(crate) max_hold: Option<Duration>,
    pub(crate) lock_delay: Duration,
    pub(crate) terms: Terms,
    pub(crate) conflict: u8,
    pub(crate) owner: Option<String>,
    pub(crate) events: Form,
    pub(crate) command: CommandLine,
    pub(crate) store: StorePlan,
}

impl LockRunPlan {
    /// Whether it waits for a lock that is held.
    pub(crate) fn waits(&self) -> bool {
        self.wait.is_some_and(|wait| !wait.is_zero())
    }
}

/// What is to be done about locks besides.
#[derive(Debug)]
pub(crate) struct LockPlan {
    pub(crate) store: StorePlan,
    pub(crate) action: LockAction,
}

#[derive(Debug)]
pub(crate) enum LockAction {
    List { prefix: String, form: Form },
    Show { resource: String, form: Form },
    Release { resource: String, reason: String, how: ForceHow },
}

/// One of the two.
#[derive(Debug)]
pub(crate) enum LockPlans {
    Run(Box<LockRunPlan>),
    Other(LockPlan),
}

impl LockPlans {
    pub(crate) fn resolve(args: LockArgs) -> Result<Self, Stop> {
        let (store, action) = match args.command {
            LockCommand::Run(args) => return run(*args).map(Box::new).map(Self::Run),
            LockCommand::Ls(args) => list(args),
            LockCommand::Show(args) => show(args),
            LockCommand::Release(args) => release(args),
        };
        Ok(Self::Other(LockPlan { store: StorePlan::resolve(store)?, action }))
    }
}

fn list(LockLsArgs { prefix, json, store }: LockLsArgs) -> (StoreArgs, LockAction) {
    (store, LockAction::List { prefix, form: Form::of(json) })
}

fn show(LockShowArgs { resource, json, store }: LockShowArgs) -> (StoreArgs, LockAction) {
    (store, LockAction::Show { resource, form: Form::of(json) })
}

fn release(args: LockReleaseArgs) -> (StoreArgs, LockAction) {
    let LockReleaseArgs { resource, reason, now, store, .. } = args;
    let how = if now { ForceHow::AtOnce } else { ForceHow::Revoke };
    (store, LockAction::Release { resource, reason, how })
}

fn run(args: LockRunArgs) -> Result<LockRunPlan, Stop> {
    let given = Flag { name: "--ttl", value: Some(&args.ttl) };
    // There is a default, so there is a value.
    let ttl = given.positive_time()?.unwrap_or_default();
    let kill_after = flag("--kill-after", &args.kill_after).time()?;
    let max_hold = flag("--max-hold", &args.max_hold).positive_time()?;
    if let Some(max_hold) = max_hold.filter(|max_hold| *max_hold < ttl) {
        let least = format_args!("it must be at least --ttl ({})", Shown(ttl)).to_string();
        return Err(Stop::flag("--max-hold", &Shown(max_hold).to_string(), least));
    }
    Ok(LockRunPlan {
        ttl,
        wait: flag("--wait", &args.wait).time()?,
        min_hold: flag("--min-hold", &args.min_hold).time()?.unwrap_or_default(),
        max_hold,
        lock_delay: flag("--lock-delay", &args.lock_delay).time()?.unwrap_or_default(),
        terms: terms(ttl, args.on_lost, kill_after)?,
        conflict: args.conflict_exit_code,
        owner: args.owner,
        events: Form::of(args.json),
        command: CommandLine::of(args.command),
        store: StorePlan::resolve(args.store)?,
        resource: args.resource,
    })
}

/// The command must be dead before the lease ends, and it must not be ended as long as a renewal
/// may still come: that is due after a third of the lease.
fn terms(ttl: Duration, on_lost: OnLostWord, kill_after: Option<Duration>) -> Result<Terms, Stop> {
    let on_lost = match on_lost {
        OnLostWord::Term => OnLost::Term,
        OnLostWord::Kill => OnLost::Kill,
        OnLostWord::Ignore => OnLost::Ignore,
    };
    let margin = (ttl / 20).clamp(MARGIN.0, MARGIN.1);
    let grace = match on_lost {
        OnLost::Kill => Duration::ZERO,
        OnLost::Term | OnLost::Ignore => kill_after.unwrap_or_else(|| MOST_GRACE.min(ttl / 4)),
    };
    let least = least_ttl(grace);
    if ttl < least && on_lost != OnLost::Ignore {
        let least = format!(
            "it must be at least {}: twice the {} from SIGTERM to SIGKILL and the {} that dying \
             may take, or the command could outlive the lease",
            Shown(least),
            Shown(grace),
            Shown(margin)
        );
        return Err(Stop::flag("--ttl", &Shown(ttl).to_string(), least));
    }
    Ok(Terms { on_lost, grace, margin, patience: kill_after.unwrap_or(PATIENCE) })
}

/// The least ttl that is twice as long as grace and margin, which itself is a part of the ttl.
fn least_ttl(grace: Duration) -> Duration {
    let with_least_margin = (grace + MARGIN.0) * 2;
    if with_least_margin <= MARGIN.0 * 20 {
        return with_least_margin;
    }
    let millis = u64::try_from((grace * 20).as_micros().div_ceil(9_000)).unwrap_or(u64::MAX);
    Duration::from_millis(millis).min((grace + MARGIN.1) * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_kill_begins_after_a_renewal_is_due_and_ends_before_the_lease_does() {
        for ttl in [200, 500, 1_000, 3_000, 10_000, 60_000, 86_400_000].map(millis) {
            let terms = terms(ttl, OnLostWord::Term, None).unwrap();
            let kill_start = ttl - terms.grace - terms.margin;
            assert!(kill_start >= ttl / 2, "{ttl:?}: {kill_start:?}");
            assert!(terms.margin >= MARGIN.0, "{ttl:?}");
        }
    }

    #[test]
    fn a_ttl_too_short_for_the_kill_is_refused_with_what_it_takes() {
        let refused = terms(millis(4_000), OnLostWord::Term, Some(millis(2_000))).unwrap_err();
        let message = refused.message();
        for part in ["--ttl \"4s\"", "at least 4445ms", "2s", "200ms"] {
            assert!(message.contains(part), "{part} is missing: {message}");
        }
        assert!(terms(millis(90), OnLostWord::Kill, None).is_err());
        assert!(terms(millis(100), OnLostWord::Kill, None).is_ok());
        assert!(terms(millis(1), OnLostWord::Ignore, None).is_ok());
    }

    #[test]
    fn what_is_told_as_the_least_ttl_is_taken_and_a_millisecond_less_is_not() {
        for grace in [0, 1, 50, 449, 450, 451, 2_000, 9_000, 9_001, 60_000].map(millis) {
            let least = least_ttl(grace);
            let taken = |ttl| terms(ttl, OnLostWord::Term, Some(grace)).is_ok();
            assert!(taken(least) && !taken(least - millis(1)), "{grace:?}: {least:?}");
            let margin = (least / 20).clamp(MARGIN.0, MARGIN.1);
            assert!(least >= (grace + margin) * 2, "{grace:?}: {least:?}");
            assert!(least <= (grace + margin) * 2 + millis(2), "{grace:?}: {least:?}");
        }
    }
}
