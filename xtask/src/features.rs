//! Each feature of each crate alone.
//!
//! A feature that compiles only beside another is a trap for the user who turns
//! on just the one. Clippy is run rather than `check`: it finds what `check`
//! finds, denies what is left unused when the other features are off, and shares
//! its artefacts with the clippy step.

use crate::shell::{Cmd, Failure};
use crate::workspace::{Package, Workspace};

/// Tools of this workspace: nobody builds them alone with features of his choice, and they have none.
const TOOLS: [&str; 3] = ["semel-bench", "semel-testkit", "xtask"];

/// All of them, even after a failure: what breaks one often leaves the others whole, and it helps
/// to see which.
pub(crate) fn check(here: &Workspace) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for package in here.packages()?.iter().filter(|package| !is_tool(package)) {
        for features in selections(package) {
            failures.extend(command(here, package, features).run().err());
        }
    }
    let texts: Vec<String> = failures.iter().map(Failure::to_string).collect();
    if texts.is_empty() { Ok(()) } else { Err(Failure::new(texts.join("\n"))) }
}

fn is_tool(package: &Package) -> bool {
    TOOLS.contains(&package.name.as_str()) && package.features.is_empty()
}

/// What is turned on, in turn: nothing, then each feature alone. A `default`
/// without content is nothing once more.
fn selections(package: &Package) -> Vec<Option<&str>> {
    let each = package.features.iter();
    let each = each.filter(|(name, turns_on)| name != "default" || !turns_on.is_empty());
    std::iter::once(None).chain(each.map(|(name, _)| Some(name.as_str()))).collect()
}

fn command(here: &Workspace, package: &Package, features: Option<&str>) -> Cmd {
    let cmd = here.cargo(&["clippy", "--quiet", "-p", &package.name, "--no-default-features"]);
    let cmd = match features {
        Some(feature) => cmd.args(["--features", feature]),
        None => cmd,
    };
    cmd.args(["--", "-D", "warnings"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(features: &[(&str, &[&str])]) -> Package {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        let features = features.iter().map(|&(name, on)| (name.to_owned(), owned(on)));
        Package { name: "p".into(), features: features.collect() }
    }

    #[test]
    fn a_crate_is_checked_bare_and_with_each_feature_alone() {
        let package = package(&[("default", &["x"]), ("x", &[]), ("y", &["dep:y"])]);
        assert_eq!(selections(&package), [None, Some("default"), Some("x"), Some("y")]);
    }

    #[test]
    fn an_empty_default_is_not_checked_twice() {
        assert_eq!(selections(&package(&[("default", &[])])), [None]);
    }

    #[test]
    fn a_tool_that_gets_a_feature_is_checked() {
        let tool = |features| Package { name: TOOLS[0].into(), ..package(features) };
        assert!(is_tool(&tool(&[])));
        assert!(!is_tool(&tool(&[("x", &[])])));
        assert!(!is_tool(&package(&[])));
    }

    #[test]
    fn the_command_turns_on_nothing_else() {
        let here = Workspace::find().expect("tests run inside the workspace");
        assert_eq!(
            command(&here, &package(&[]), Some("x")).shown(),
            "cargo clippy --quiet -p p --no-default-features --features x -- -D warnings"
        );
    }
}
