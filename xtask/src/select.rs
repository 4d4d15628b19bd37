//! Running chosen tests and counting them, with either runner.

use crate::shell::{Cmd, Failure};
use crate::workspace::{Package, Target, Workspace};

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
}

/// Where tests are looked for.
#[derive(Debug)]
pub(crate) enum Scope<'a> {
    Workspace,
    Package(&'a Package),
}

/// Which tests: any that one of the lists selects.
#[derive(Debug)]
pub(crate) struct Selection<'a> {
    pub(crate) scope: Scope<'a>,
    /// Whole segments of a test's path: `a` selects `a`, `a::b` and `b::a`.
    pub(crate) segments: Vec<String>,
    /// Starts of segments.
    pub(crate) prefixes: Vec<String>,
    /// Integration tests that are meant as a whole.
    pub(crate) files: Vec<String>,
}

impl Selection<'_> {
    /// Runs the chosen tests and answers how many passed.
    pub(crate) fn run(
        &self,
        here: &Workspace,
        env: &[(&'static str, String)],
    ) -> Result<u64, Failure> {
        let mut passed = 0;
        for cmd in self.commands(here, Runner::installed(here)) {
            let cmd = env.iter().fold(cmd, |cmd, (name, value)| cmd.env(name, value.clone()));
            passed += count(&cmd.run_and_read()?);
        }
        Ok(passed)
    }

    fn commands(&self, here: &Workspace, runner: Runner) -> Vec<Cmd> {
        match runner {
            Runner::Nextest => {
                let run = here.cargo(&["nextest", "run"]).args(self.scope_args());
                vec![run.args(["--no-fail-fast", "--no-tests", "pass", "-E", &self.filter()])]
            }
            Runner::CargoTest => self.cargo_test(here),
        }
    }

    /// One command for the tests chosen by name, and one for each whole file. libtest knows only
    /// parts of names, so it may run a few tests more; none runs twice.
    fn cargo_test(&self, here: &Workspace) -> Vec<Cmd> {
        let base = || here.cargo(&["test"]).args(self.scope_args());
        let names = self.segments.iter().chain(&self.prefixes).map(String::as_str);
        let by_name = base().args(self.other_targets()).args(["--"]).args(names);
        let files = self.files.iter().map(|file| base().args(["--test", file]));
        std::iter::once(by_name).chain(files).collect()
    }

    fn scope_args(&self) -> Vec<&str> {
        match self.scope {
            Scope::Workspace => vec!["--workspace", "--all-features"],
            Scope::Package(package) => vec!["-p", &package.name, "--all-features"],
        }
    }

    fn other_targets(&self) -> Vec<&str> {
        let Scope::Package(package) = self.scope else {
            return vec!["--lib", "--bins", "--tests"];
        };
        let flags = package.targets.iter().filter_map(|target| match target {
            Target::Lib => Some(vec!["--lib"]),
            Target::Bin(name) => Some(vec!["--bin", name]),
            Target::Test(name) if self.files.contains(name) => None,
            Target::Test(name) => Some(vec!["--test", name]),
        });
        flags.flatten().collect()
    }

    fn filter(&self) -> String {
        let segments = self.segments.iter().map(|name| format!("{name}($|::)"));
        let parts: Vec<String> = segments.chain(self.prefixes.iter().cloned()).collect();
        let paths = format!("test(/(^|::)({})/)", parts.join("|"));
        let files = self.files.iter().map(|file| format!("binary(={file})"));
        std::iter::once(paths).chain(files).collect::<Vec<_>>().join(" + ")
    }
}

/// How many tests passed, by what either runner prints at its end.
fn count(printed: &str) -> u64 {
    let lines = printed.lines().map(str::trim_start);
    let ends = lines.filter(|line| line.starts_with("Summary") || line.starts_with("test result"));
    ends.filter_map(number_before_passed).sum()
}

fn number_before_passed(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("passed"))?;
    words.get(at.checked_sub(1)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> Package {
        let test = |name: &str| Target::Test(name.to_owned());
        let targets =
            vec![Target::Lib, test("conformance"), test("other"), Target::Bin("b".into())];
        Package { name: "p".into(), features: vec![], targets }
    }

    fn shown(scope: Scope<'_>, files: &[&str], runner: Runner) -> Vec<String> {
        let here = Workspace::find().expect("tests run inside the workspace");
        let selection = Selection {
            scope,
            segments: vec!["conformance".into()],
            prefixes: vec!["proof_".into()],
            files: files.iter().map(|&file| file.to_owned()).collect(),
        };
        selection.commands(&here, runner).iter().map(Cmd::shown).collect()
    }

    #[test]
    fn nextest_is_asked_for_whole_segments_starts_and_files() {
        assert_eq!(
            shown(Scope::Package(&package()), &["conformance"], Runner::Nextest),
            ["cargo nextest run -p p --all-features --no-fail-fast --no-tests pass \
              -E 'test(/(^|::)(conformance($|::)|proof_)/) + binary(=conformance)'"]
        );
    }

    #[test]
    fn cargo_test_is_asked_by_name_and_by_file_so_that_no_test_runs_twice() {
        assert_eq!(
            shown(Scope::Package(&package()), &["conformance"], Runner::CargoTest),
            [
                "cargo test -p p --all-features --lib --test other --bin b -- conformance proof_",
                "cargo test -p p --all-features --test conformance",
            ]
        );
        assert_eq!(
            shown(Scope::Workspace, &[], Runner::CargoTest),
            ["cargo test --workspace --all-features --lib --bins --tests -- conformance proof_"]
        );
    }

    #[test]
    fn the_count_is_read_from_either_runner() {
        let nextest =
            "   Starting 3 tests\n     Summary [   0.013s] 4 tests run: 3 passed, 1 failed";
        assert_eq!(count(nextest), 3);
        let flaky = "     Summary [   0.013s] 4 tests run: 4 passed (1 slow), 2 skipped";
        assert_eq!(count(flaky), 4);
        let libtest = "test result: ok. 12 passed; 0 failed; 0 ignored\n\
                       test a_name_with_passed ... ok\n\
                       test result: ok. 30 passed; 0 failed";
        assert_eq!(count(libtest), 42);
        assert_eq!(count("nothing of the kind"), 0);
    }
}
