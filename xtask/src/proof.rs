//! Property tests with many more cases, the tests named `proof_*`, and the demo on PostgreSQL; in the
//! long tier also the clients of other languages, and whether the bench of other libraries compiles.
//!
//! Property tests are found by reading the sources: they are the tests that take
//! parameters, which `proptest!` draws. Where a block fixes its own number of cases
//! (`with_cases`), that number wins over ours: such files are named, so that nobody
//! takes them for proven harder than they were.

use std::collections::BTreeSet;

use crate::checks;
use crate::house::sources;
use crate::mcp_client;
use crate::runner::{Runner, passed};
use crate::shell::{Cmd, Failure};
use crate::workspace::Workspace;

/// How hard to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    Short,
    Long,
}

impl Tier {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "short" => Some(Self::Short),
            "long" => Some(Self::Long),
            _ => None,
        }
    }

    pub(crate) fn names() -> [&'static str; 2] {
        ["short", "long"]
    }

    /// proptest's own default is 256.
    fn cases(self) -> u32 {
        match self {
            Self::Short => 2_000,
            Self::Long => 100_000,
        }
    }
}

pub(crate) fn run(here: &Workspace, tier: Tier) -> Result<(), Failure> {
    let properties = all_properties(here)?;
    let cases = tier.cases().to_string();
    let printed = command(here, Runner::installed(here), &properties)
        .env("PROPTEST_CASES", cases)
        .run_and_read()?;
    let ran: BTreeSet<&str> =
        passed(&printed).filter_map(|path| path.rsplit("::").next()).collect();
    println!("\n{} tests passed, each property with {} cases", ran.len(), tier.cases());
    let missing: Vec<&str> =
        properties.iter().map(String::as_str).filter(|name| !ran.contains(name)).collect();
    if properties.is_empty() || !missing.is_empty() {
        return Err(Failure::new(format!(
            "of {} property tests in the sources, these were not run: {}",
            properties.len(),
            missing.join(", ")
        )));
    }
    checks::demo_on_postgres(here)?;
    match tier {
        Tier::Short => Ok(()),
        Tier::Long => {
            checks::peers(here)?;
            mcp_client::run(here)
        }
    }
}

/// The whole workspace, as in the step `tests`, so that nothing is built anew.
fn command(here: &Workspace, runner: Runner, properties: &[String]) -> Cmd {
    let all = runner.command(here).args(["--workspace"]);
    match runner {
        Runner::Nextest => {
            let names = properties.join("|");
            all.args(["-E", &format!("test(/(^|::)(({names})$|proof_)/)")])
        }
        // libtest knows only parts of names, so it may run a few tests more.
        Runner::CargoTest => {
            all.args(["--lib", "--bins", "--tests", "--"]).args(properties).args(["proof_"])
        }
    }
}

fn all_properties(here: &Workspace) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for (path, text) in sources(here)? {
        let found = properties(&text);
        if !found.is_empty() && text.contains("with_cases") {
            println!("note: {path} fixes its own number of cases");
        }
        names.extend(found);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// What opens a block of property tests. Put together from parts, here and in the tests below, so
/// that this file is not taken for one that has some.
const BLOCK: &str = concat!("proptest", "! {");

/// The names of the property tests in a source file.
fn properties(text: &str) -> Vec<String> {
    let Some((_, inside)) = text.split_once(BLOCK) else { return Vec::new() };
    let tests = inside.split("#[test]").skip(1);
    tests.filter_map(drawn).map(str::to_owned).collect()
}

/// The name of the test that `text` begins with, if it takes parameters.
fn drawn(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once("fn ")?.1.split_once('(')?;
    (!rest.trim_start().starts_with(')')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn property_tests_are_found_by_their_drawn_parameters() {
        let text = format!(
            "fn helper(a: u8) {{}}\n{BLOCK}\n#[test]\nfn one(a in 0..3u8) {{}}\n#[test]\n\
             #[expect(x)]\nfn two(\n    b: u8,\n) {{ f(b) }}\nfn helper(c: u8) {{}}\n}}\n\
             #[test]\nfn plain() {{ f(1) }}\n"
        );
        assert_eq!(properties(&text), ["one", "two"]);
        assert_eq!(properties("#[test]\nfn one(a in 0..3u8) {}"), Vec::<String>::new());
    }

    #[test]
    fn either_runner_is_asked_for_properties_and_proofs() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let names = ["one".to_owned(), "two".to_owned()];
        assert_eq!(
            command(&here, Runner::Nextest, &names).shown(),
            "cargo nextest run --all-features --no-fail-fast --workspace \
             -E 'test(/(^|::)((one|two)$|proof_)/)'"
        );
        assert_eq!(
            command(&here, Runner::CargoTest, &names).shown(),
            "cargo test --all-features --no-fail-fast --workspace --lib --bins --tests \
             -- one two proof_"
        );
    }
}
