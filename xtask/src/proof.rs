//! Property tests with many more cases, and the tests named `proof_*`.
//!
//! Property tests are found by reading the sources: they are the tests that take
//! parameters, which `proptest!` draws. Where a block fixes its own number of cases
//! (`with_cases`), that number wins over ours: such files are named, so that nobody
//! takes them for proven harder than they were.

use crate::house::sources;
use crate::select::{Scope, Selection};
use crate::shell::Failure;
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
    let segments = all_properties(here)?;
    let found = segments.len();
    let chosen = Selection {
        scope: Scope::Workspace,
        segments,
        prefixes: vec!["proof_".into()],
        files: vec![],
    };
    let passed = chosen.run(here, &[("PROPTEST_CASES", tier.cases().to_string())])?;
    println!("\n{passed} tests passed, each property with {} cases", tier.cases());
    if found == 0 || usize::try_from(passed).is_ok_and(|passed| passed < found) {
        return Err(Failure::new(format!(
            "{found} property tests stand in the sources, {passed} tests were run: \
             that can't be right"
        )));
    }
    Ok(())
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
}
