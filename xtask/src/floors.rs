//! Version floors: `Cargo.lock` against `deny.toml`, without cargo-deny.
//!
//! `deny.toml` says it once, in the form cargo-deny reads: `crate = "NAME:<X.Y.Z"`
//! is a floor, and `deny-multiple-versions = true` stands for one version only.

use std::fmt;

use crate::shell::Failure;
use crate::workspace::Workspace;

/// What `deny.toml` asks of one crate.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    Floor { name: String, least: Version },
    OneVersion { name: String },
}

/// `X.Y.Z`; a pre-release counts as the version before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    numbers: [u64; 3],
    /// Sorts behind `false`: a release is later than its pre-releases.
    released: bool,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        let mark = if self.released { "" } else { " (pre-release)" };
        write!(f, "{major}.{minor}.{patch}{mark}")
    }
}

pub(crate) fn check(here: &Workspace) -> Result<(), Failure> {
    let rules = rules(&here.read("deny.toml")?)?;
    let locked = locked(&here.read("Cargo.lock")?)?;
    let faults: Vec<String> = rules.iter().filter_map(|rule| fault(rule, &locked)).collect();
    println!("{} rules of deny.toml held against {} crates", rules.len(), locked.len());
    if faults.is_empty() { Ok(()) } else { Err(Failure::new(faults.join("\n"))) }
}

/// The rules of `deny.toml`: one entry a line, which a test of ours checks.
fn rules(deny: &str) -> Result<Vec<Rule>, Failure> {
    let lines = deny.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let mut rules = Vec::new();
    for line in lines {
        let Some(spec) = value(line, "crate") else { continue };
        if let Some((name, least)) = spec.split_once(":<") {
            let least = version(least)
                .ok_or_else(|| Failure::new(format!("deny.toml: `{spec}` is no floor")))?;
            rules.push(Rule::Floor { name: name.to_owned(), least });
        } else if line.contains("deny-multiple-versions = true") {
            rules.push(Rule::OneVersion { name: spec.to_owned() });
        }
    }
    if rules.is_empty() {
        return Err(Failure::new("deny.toml holds no floor: that can't be right"));
    }
    Ok(rules)
}

/// Every crate of `Cargo.lock` with its version.
fn locked(lock: &str) -> Result<Vec<(String, Version)>, Failure> {
    let mut found = Vec::new();
    for block in lock.split("[[package]]").skip(1) {
        let get = |key| block.lines().find_map(|line| value(line, key));
        let (name, text) = (get("name").unwrap_or_default(), get("version").unwrap_or_default());
        let version = version(text)
            .ok_or_else(|| Failure::new(format!("Cargo.lock: `{name}` has version `{text}`")))?;
        found.push((name.to_owned(), version));
    }
    Ok(found)
}

/// The text behind `key = "` in a line of TOML.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let line = line.trim_start_matches(['{', ' ']);
    let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

fn version(text: &str) -> Option<Version> {
    let text = text.split('+').next()?;
    let (numbers, released) = match text.split_once('-') {
        Some((numbers, _)) => (numbers, false),
        None => (text, true),
    };
    let parts = numbers.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some(Version { numbers: parts.try_into().ok()?, released })
}

fn fault(rule: &Rule, locked: &[(String, Version)]) -> Option<String> {
    match rule {
        Rule::Floor { name, least } => {
            let low = locked.iter().find(|(crate_name, at)| crate_name == name && at < least);
            low.map(|(_, at)| format!("{name} is locked at {at}; it must be {least} or later"))
        }
        Rule::OneVersion { name } => {
            let all = locked.iter().filter(|(crate_name, _)| crate_name == name);
            let versions: Vec<String> = all.map(|(_, at)| at.to_string()).collect();
            (versions.len() > 1)
                .then(|| format!("{name} is locked more than once: {}", versions.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = r#"
[bans]
deny = [
  # { crate = "not-this-one:<9.0.0", reason = "a comment" },
  { crate = "h2:<0.4.16", reason = "a flood" },
  { crate = "h2", deny-multiple-versions = true },
]
"#;

    fn lock(packages: &[(&str, &str)]) -> String {
        let block = |(name, at): &(&str, &str)| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{at}\"\ndependencies = []\n\n")
        };
        format!("version = 4\n\n{}", packages.iter().map(block).collect::<String>())
    }

    fn faults(packages: &[(&str, &str)]) -> Vec<String> {
        let locked = locked(&lock(packages)).expect("a lock file");
        let rules = rules(DENY).expect("rules");
        rules.iter().filter_map(|rule| fault(rule, &locked)).collect()
    }

    #[test]
    fn a_version_at_or_above_the_floor_holds_and_one_below_fails() {
        for at in ["0.4.16", "0.4.20", "0.5.0", "1.0.0"] {
            assert_eq!(faults(&[("h2", at), ("other", "0.1.0")]), [""; 0], "{at}");
        }
        for at in ["0.4.15", "0.3.99", "0.4.9", "0.4.16-rc.1"] {
            let found = faults(&[("h2", at)]);
            assert!(found.len() == 1 && found[0].contains("0.4.16 or later"), "{at}: {found:?}");
        }
    }

    #[test]
    fn two_versions_of_a_crate_fail_where_only_one_may_be() {
        let found =
            faults(&[("h2", "0.4.16"), ("h2", "0.5.0"), ("syn", "1.0.0"), ("syn", "2.0.0")]);
        assert_eq!(found, ["h2 is locked more than once: 0.4.16, 0.5.0"]);
    }

    #[test]
    fn a_crate_that_is_not_locked_breaks_no_floor() {
        assert_eq!(faults(&[("other", "0.1.0")]), [""; 0]);
    }

    #[test]
    fn what_is_no_version_is_an_error_and_never_passed_over() {
        assert!(rules("{ crate = \"h2:<0.4\" }").is_err());
        assert!(rules("").is_err());
        assert!(locked("[[package]]\nname = \"h2\"\n").is_err());
    }

    #[test]
    fn the_floors_that_the_design_asks_for_are_in_deny_toml() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let rules = rules(&here.read("deny.toml").expect("deny.toml")).expect("rules");
        let floor = |name: &str, least: &str| {
            let least = version(least).expect("a version");
            rules.contains(&Rule::Floor { name: name.to_owned(), least })
        };
        assert!(floor("h2", "0.4.16"));
        assert!(floor("hyper", "1.12.0"));
        assert!(floor("opentelemetry_sdk", "0.32.1"));
        assert!(floor("libsqlite3-sys", "0.40.0"));
        assert!(rules.contains(&Rule::OneVersion { name: "h2".into() }));
        assert!(rules.contains(&Rule::OneVersion { name: "hyper".into() }));
    }
}
