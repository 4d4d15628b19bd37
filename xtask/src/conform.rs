//! The conformance suite of one store.

use crate::select::{Scope, Selection};
use crate::shell::Failure;
use crate::workspace::{Package, Target, Workspace};

/// Fewer than this many means that the suite was not run whole: a filter that no
/// longer fits must not look like a store that conforms.
const LEAST_CASES: u64 = 40;

/// A store that has a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Memory,
    Sqlite,
}

impl Store {
    /// Name on the command line, and the crate that holds the store.
    const ALL: [(Self, &'static str, &'static str); 2] =
        [(Self::Memory, "memory", "semel-core"), (Self::Sqlite, "sqlite", "semel-sqlite")];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(store, ..)| *store)
    }

    pub(crate) fn names() -> [&'static str; 2] {
        Self::ALL.map(|(_, name, _)| name)
    }

    fn crate_name(self) -> &'static str {
        match self {
            Self::Memory => Self::ALL[0].2,
            Self::Sqlite => Self::ALL[1].2,
        }
    }
}

/// Runs the suite and prints how many cases it has.
pub(crate) fn run(here: &Workspace, store: Store) -> Result<(), Failure> {
    let name = store.crate_name();
    let packages = here.packages()?;
    let package = packages.iter().find(|package| package.name == name);
    let package = package.ok_or_else(|| Failure::new(format!("{name} is not a member")))?;
    let suite = Selection {
        scope: Scope::Package(package),
        segments: vec!["conformance".into()],
        prefixes: vec![],
        files: files(package),
    };
    let cases = suite.run(here, &[])?;
    println!("\n{cases} conformance cases passed in {name}");
    if cases < LEAST_CASES {
        return Err(Failure::new(format!(
            "{cases} cases are too few: the suite has at least {LEAST_CASES}. Its tests are \
             those of a module `conformance` or of a file tests/conformance*.rs"
        )));
    }
    Ok(())
}

fn files(package: &Package) -> Vec<String> {
    let tests = package.targets.iter().filter_map(|target| match target {
        Target::Test(name) if name.starts_with("conformance") => Some(name.clone()),
        _ => None,
    });
    tests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_of_a_store_is_looked_for_in_a_member() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let packages = here.packages().expect("cargo knows the workspace");
        for (store, name, crate_name) in Store::ALL {
            assert_eq!(Store::parse(name), Some(store));
            assert_eq!(store.crate_name(), crate_name);
            assert!(packages.iter().any(|package| package.name == crate_name), "{crate_name}");
        }
    }

    #[test]
    fn files_of_the_suite_are_known_by_their_names() {
        let test = |name: &str| Target::Test(name.to_owned());
        let targets = vec![Target::Lib, test("conformance"), test("conformance_prefix"), test("x")];
        let package = Package { name: "p".into(), features: vec![], targets };
        assert_eq!(files(&package), ["conformance", "conformance_prefix"]);
    }
}
