//! The conformance suite of one store.

use crate::select::Selection;
use crate::shell::Failure;
use crate::workspace::Workspace;

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
        segments: vec!["conformance".into()],
        prefixes: vec![],
        file_prefix: "conformance",
    };
    let cases = suite.run(here, package, &[])?;
    println!("\n{cases} conformance cases passed in {name}");
    if cases < LEAST_CASES {
        return Err(Failure::new(format!(
            "{cases} cases are too few: the suite has at least {LEAST_CASES}. Its tests are \
             those of a module `conformance` or of a file tests/conformance*.rs"
        )));
    }
    Ok(())
}
