//! What runs tests, and what it says about them.

use std::num::NonZero;
use std::thread;

use crate::shell::Cmd;
use crate::workspace::Workspace;

/// What runs tests: the better one where it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    Nextest,
    CargoTest,
}

impl Runner {
    pub(crate) fn installed(here: &Workspace) -> Self {
        if here.has_subcommand("nextest") { Self::Nextest } else { Self::CargoTest }
    }

    /// Runs tests with all features, and goes on after one that fails: all failures of a run are
    /// worth knowing, not just the first.
    pub(crate) fn command(self, here: &Workspace) -> Cmd {
        let run: &[&str] = match self {
            Self::Nextest => &["nextest", "run"],
            Self::CargoTest => &["test"],
        };
        here.cargo(run).args(["--all-features", "--no-fail-fast"])
    }

    /// The same, with tests that wait side by side: `.config/nextest.toml` says which, and what a
    /// slot is. `cargo test` has no such thing.
    pub(crate) fn packed(self, here: &Workspace) -> Cmd {
        let command = self.command(here);
        match self {
            Self::Nextest => {
                let slots = (SLOTS_PER_CORE * cores()).to_string();
                command.args(["--profile", "packed", "--test-threads", &slots])
            }
            Self::CargoTest => command,
        }
    }
}

/// As many as a test takes of which `.config/nextest.toml` knows nothing.
const SLOTS_PER_CORE: usize = 4;

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The paths of the tests that passed, as either runner prints them.
pub(crate) fn passed(printed: &str) -> impl Iterator<Item = &str> {
    printed.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            // "LEAK" has passed too: it left a child or an open pipe behind.
            ["PASS" | "LEAK", .., path] | ["test", path, .., "ok"] => Some(*path),
            _ => None,
        }
    })
}

/// Why tests failed, as short as it can be: a log of which just the end is kept tells that much.
pub(crate) fn reasons(printed: &str) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let mut lines = printed.lines();
    while let Some(line) = lines.by_ref().find(|line| is_panic(line)) {
        let message = lines.clone().map(str::trim_end).take_while(|line| !is_end(line));
        let reason: Vec<&str> = [line].into_iter().chain(message.take(MESSAGE_LINES)).collect();
        let reason = reason.join("\n");
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons.truncate(MOST_REASONS);
    reasons.join("\n")
}

const MESSAGE_LINES: usize = 4;
const MOST_REASONS: usize = 20;

/// `thread 'name' (id) panicked at place:`, as Rust's standard library says it.
fn is_panic(line: &str) -> bool {
    line.trim_start().starts_with("thread '") && line.contains(" panicked at ")
}

fn is_end(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with("stack backtrace:") || line.starts_with("note: run with")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_no_known_kind_has_a_core_for_itself() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let config = here.read(".config/nextest.toml").expect("the profile");
        let (_, last) = config.rsplit_once("[[profile.packed.overrides]]").expect("a rule");
        assert_eq!(
            last.trim(),
            format!("filter = 'all()'\nthreads-required = {SLOTS_PER_CORE}"),
            "the last rule is for all other tests"
        );
        let shown = Runner::Nextest.packed(&here).shown();
        let slots = SLOTS_PER_CORE * cores();
        assert!(shown.ends_with(&format!("--profile packed --test-threads {slots}")), "{shown}");
        assert_eq!(
            Runner::CargoTest.packed(&here).shown(),
            Runner::CargoTest.command(&here).shown()
        );
    }

    #[test]
    fn the_reasons_are_what_the_tests_said_each_once() {
        let printed = "        FAIL [   0.007s] (1/2) semel::a b::c\n\n  stderr ───\n\n\
             \u{20}   thread 'b::c' (7) panicked at src/a.rs:1:2:\n    not within 60s: the end\n\
             \u{20}   stack backtrace:\n       0: begin\n\n\
             \u{20}   thread 'b::d' (8) panicked at src/d.rs:3:4:\n    assertion failed\n\
             \u{20}     left: 1\n     right: 2\n    note: run with `RUST_BACKTRACE=1`\n";
        let expected = "    thread 'b::c' (7) panicked at src/a.rs:1:2:\n    not within 60s: the end\n\
             \u{20}   thread 'b::d' (8) panicked at src/d.rs:3:4:\n    assertion failed\n\
             \u{20}     left: 1\n     right: 2";
        assert_eq!(reasons(&printed.repeat(2)), expected);
        assert_eq!(reasons("    Summary [   0.473s] 2 tests run: 2 passed"), "");
    }

    #[test]
    fn what_passed_is_read_from_either_runner() {
        let nextest = "    Starting 3 tests across 1 binary\n\
             \u{20}       PASS [   0.007s] ( 84/105) semel-core::conformance conformance::a::b\n\
             \u{20}       FAIL [   0.007s] ( 85/105) semel-core::conformance conformance::a::c\n\
             \u{20}    Summary [   0.473s] 2 tests run: 1 passed, 1 failed, 0 skipped";
        assert_eq!(passed(nextest).collect::<Vec<_>>(), ["conformance::a::b"]);
        let libtest = "running 2 tests\ntest memory::a ... ok\ntest memory::b ... FAILED\n\
             test memory::d - should panic ... ok\n\
             test memory::c ... ignored\ntest result: FAILED. 1 passed; 1 failed";
        assert_eq!(passed(libtest).collect::<Vec<_>>(), ["memory::a", "memory::d"]);
    }
}
