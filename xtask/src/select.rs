//! Running chosen tests and counting them, with either runner.

use std::fs;
use std::path::Path;

use crate::shell::{Cmd, Failure};
use crate::workspace::{Package, Workspace};

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

/// Which tests of one package.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Whole segments of a test's path: `a` selects `a`, `a::b` and `b::a`.
    pub(crate) segments: Vec<String>,
    /// Starts of a test's own name, or of a segment before it.
    pub(crate) prefixes: Vec<String>,
    /// Files in `tests/` all of whose tests are meant: those whose name starts so.
    pub(crate) file_prefix: &'static str,
}

impl Selection {
    /// Runs the chosen tests of `package` and answers how many passed.
    pub(crate) fn run(
        &self,
        here: &Workspace,
        package: &Package,
        env: &[(&'static str, String)],
    ) -> Result<u64, Failure> {
        let mut passed = 0;
        for cmd in self.commands(here, package, Runner::installed(here)) {
            let cmd = env.iter().fold(cmd, |cmd, (name, value)| cmd.env(name, value.clone()));
            passed += count(&cmd.run_and_read()?);
        }
        Ok(passed)
    }

    fn commands(&self, here: &Workspace, package: &Package, runner: Runner) -> Vec<Cmd> {
        let p = package.name.as_str();
        match runner {
            Runner::Nextest => vec![
                here.cargo(&["nextest", "run", "-p", p, "--all-features", "--no-fail-fast"])
                    .args(["--no-tests", "pass", "-E", &self.filter()]),
            ],
            Runner::CargoTest => self.cargo_test(here, package),
        }
    }

    /// One command for the tests chosen by name, and one for each whole file.
    /// libtest knows only parts of names, so it may run a few tests more.
    fn cargo_test(&self, here: &Workspace, package: &Package) -> Vec<Cmd> {
        let base = || here.cargo(&["test", "-p", &package.name, "--all-features"]);
        let whole = test_files(&package.dir, self.file_prefix);
        let by_name = base().args(["--lib", "--bins", "--tests", "--"]);
        let names = self.segments.iter().chain(&self.prefixes);
        let by_name = by_name.args(names.map(String::as_str));
        let by_name = (!self.segments.is_empty() || !self.prefixes.is_empty()).then_some(by_name);
        by_name.into_iter().chain(whole.iter().map(|file| base().args(["--test", file]))).collect()
    }

    fn filter(&self) -> String {
        let segments = self.segments.iter().map(|name| format!("{name}($|::)"));
        let prefixes = self.prefixes.iter().map(|start| start.to_owned());
        let paths = segments.chain(prefixes).map(|part| format!("test(/(^|::){part}/)"));
        let files = std::iter::once(format!("binary(/^{}/)", self.file_prefix));
        paths.chain(files).collect::<Vec<_>>().join(" + ")
    }
}

/// The integration tests whose name starts with `prefix`: a file or a folder.
fn test_files(package: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(package.join("tests")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| {
            let path = entry.path();
            path.extension().is_some_and(|ext| ext == "rs") || path.join("main.rs").is_file()
        })
        .filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()))
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort();
    names
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

    fn selection() -> Selection {
        Selection {
            segments: vec!["conformance".into()],
            prefixes: vec!["proof_".into()],
            file_prefix: "conformance",
        }
    }

    #[test]
    fn nextest_is_asked_for_whole_segments_starts_and_files() {
        assert_eq!(
            selection().filter(),
            "test(/(^|::)conformance($|::)/) + test(/(^|::)proof_/) + binary(/^conformance/)"
        );
    }

    #[test]
    fn cargo_test_is_asked_by_name_and_by_file() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let dir = tempdir("cargo-test");
        fs::create_dir_all(dir.join("tests/conformance_two")).expect("made");
        for file in ["conformance.rs", "other.rs", "conformance_two/main.rs", "conformance.txt"] {
            fs::write(dir.join("tests").join(file), "").expect("written");
        }
        let package = Package { name: "p".into(), features: vec![], dir: dir.clone() };
        let cmds = selection().commands(&here, &package, Runner::CargoTest);
        let shown: Vec<_> = cmds.iter().map(Cmd::shown).collect();
        let base = "cargo test -p p --all-features";
        assert_eq!(
            shown,
            [
                format!("{base} --lib --bins --tests -- conformance proof_"),
                format!("{base} --test conformance"),
                format!("{base} --test conformance_two"),
            ]
        );
        fs::remove_dir_all(dir).expect("removed");
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

    fn tempdir(name: &str) -> std::path::PathBuf {
        let dir = std::env::temp_dir().join(format!("xtask-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir).expect("made");
        dir
    }
}
