//! The table of steps behind `cargo xtask test`, and how they are run.

use std::time::{Duration, Instant};

use crate::shell::Failure;
use crate::workspace::Workspace;
use crate::{checks, features, floors, house, servers};

/// One thing that must hold before a change goes in.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    run: fn(&Workspace) -> Result<(), Failure>,
}

/// What comes first costs least. Clippy, the documentation and the features
/// then share the dependencies' metadata; the tests and the documentation's
/// examples share what is compiled for real, with the same features, so that
/// each dependency is built twice at most in a run from nothing.
pub(crate) const STEPS: &[Step] = &[
    Step { name: "house", about: "house rules that no other tool knows", run: house::check },
    Step { name: "floors", about: "versions that must not be fallen below", run: floors::check },
    Step { name: "fmt", about: "formatting", run: checks::fmt },
    Step { name: "clippy", about: "clippy, every target, warnings denied", run: checks::clippy },
    Step { name: "docs", about: "documentation, warnings denied", run: checks::docs },
    Step { name: "features", about: "each feature of each crate alone", run: features::check },
    Step { name: "servers", about: "the servers that tests start", run: servers::check },
    Step { name: "tests", about: "all tests (cargo-nextest if installed)", run: checks::tests },
    Step { name: "demo-stores", about: "the demo on Redis", run: checks::demo_on_redis },
    Step { name: "doc-tests", about: "examples in the documentation", run: checks::doc_tests },
];

/// When a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    AtFirst,
    AtEnd,
}

enum Outcome {
    Passed(Duration),
    Failed(Duration, Failure),
    NotRun,
}

/// Runs the steps named, or all of them if none is, in the order of the table.
pub(crate) fn run(here: &Workspace, only: &[&str], stop: Stop) -> Result<(), Failure> {
    let chosen = STEPS.iter().filter(|step| only.is_empty() || only.contains(&step.name));
    run_steps(here, chosen, stop)
}

fn run_steps<'a>(
    here: &Workspace,
    steps: impl Iterator<Item = &'a Step>,
    stop: Stop,
) -> Result<(), Failure> {
    let mut outcomes = Vec::new();
    let mut stopped = false;
    for step in steps {
        let outcome = if stopped { Outcome::NotRun } else { run_step(here, step) };
        stopped |= stop == Stop::AtFirst && matches!(outcome, Outcome::Failed(..));
        outcomes.push((step, outcome));
    }
    summary(&outcomes)
}

fn run_step(here: &Workspace, step: &Step) -> Outcome {
    println!("\n== {}: {}", step.name, step.about);
    let (result, took) = timed(|| (step.run)(here));
    match result {
        Ok(()) => {
            println!("-- {} passed in {}", step.name, seconds(took));
            Outcome::Passed(took)
        }
        Err(failure) => {
            println!("-- {} FAILED after {}: {failure}", step.name, seconds(took));
            println!("   just this step: cargo xtask test {}", step.name);
            Outcome::Failed(took, failure)
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "shown to people, decides nothing")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed())
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

fn summary(outcomes: &[(&Step, Outcome)]) -> Result<(), Failure> {
    let mut failed = Vec::new();
    let mut whole = Duration::ZERO;
    println!("\n== summary");
    for (step, outcome) in outcomes {
        let (word, took) = match outcome {
            Outcome::Passed(took) => ("passed", *took),
            Outcome::Failed(took, _) => ("FAILED", *took),
            Outcome::NotRun => ("not run", Duration::ZERO),
        };
        whole += took;
        println!("   {:<10} {word:<8} {:>9}", step.name, seconds(took));
        if let Outcome::Failed(_, failure) = outcome {
            failed.push(format!(
                "{}: {failure}\n  just this step: cargo xtask test {}",
                step.name, step.name
            ));
        }
    }
    println!("   {:<10} {:<8} {:>9}", "all", "", seconds(whole));
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(failed.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Step = Step { name: "fine", about: "", run: |_| Ok(()) };
    const BAD: Step = Step { name: "bad", about: "", run: |_| Err(Failure::new("it broke")) };
    const WORSE: Step = Step { name: "worse", about: "", run: |_| Err(Failure::new("so too")) };

    fn failure_of(steps: &[Step], stop: Stop) -> String {
        let here = Workspace::find().expect("tests run inside the workspace");
        run_steps(&here, steps.iter(), stop).expect_err("a step fails").to_string()
    }

    #[test]
    fn a_failing_step_says_how_to_run_just_that_step() {
        let text = failure_of(&[FINE, BAD], Stop::AtEnd);
        assert!(text.contains("bad: it broke"), "{text}");
        assert!(text.contains("cargo xtask test bad"), "{text}");
    }

    #[test]
    fn a_run_stops_at_the_first_failure_unless_told_to_keep_going() {
        let first = failure_of(&[BAD, WORSE], Stop::AtFirst);
        assert!(!first.contains("worse"), "{first}");
        let all = failure_of(&[BAD, WORSE], Stop::AtEnd);
        assert!(all.contains("bad") && all.contains("worse"), "{all}");
    }

    #[test]
    fn a_run_without_failures_is_a_success() {
        let here = Workspace::find().expect("tests run inside the workspace");
        assert!(run_steps(&here, [FINE].iter(), Stop::AtFirst).is_ok());
    }
}
