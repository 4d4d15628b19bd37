//! Where the programs of PostgreSQL are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{TestkitError, TestkitResult};

/// Names a directory to take the programs from, to run the same tests on another version.
const VARIABLE: &str = "SEMEL_POSTGRES_BIN";

/// Where Debian keeps versions, each in a directory of its own.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Of one installation, so that all are of the same version.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Finds the directory that has `initdb` and `postgres`: the one that the variable names, or
    /// one of `PATH`, or that of the newest version in Debian's place.
    pub(super) fn find() -> TestkitResult<Self> {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let found = match named {
            // There is no falling back from a wrong name.
            Some(named) => Some(named).filter(|named| is_whole(named)),
            None => on_path().or_else(|| newest(Path::new(VERSIONS))),
        };
        let directory = found.ok_or(TestkitError::Missing {
            program: "postgres",
            install: "apt-get install postgresql",
            variable: VARIABLE,
        })?;
        Ok(Self { directory })
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// A program of the PostgreSQL that servers are started from, such as `pgbench`.
///
/// # Errors
///
/// [`TestkitError::Missing`] where there is no PostgreSQL, or none with this program.
pub fn postgres_program(name: &'static str) -> TestkitResult<PathBuf> {
    let path = Programs::find()?.program(name);
    let missing = TestkitError::Missing {
        program: name,
        install: "apt-get install postgresql",
        variable: VARIABLE,
    };
    if path.is_file() { Ok(path) } else { Err(missing) }
}

fn is_whole(directory: &Path) -> bool {
    ["initdb", "postgres", "psql"].iter().all(|name| directory.join(name).is_file())
}

fn on_path() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).find(|directory| is_whole(directory))
}

fn newest(versions: &Path) -> Option<PathBuf> {
    let directories = fs::read_dir(versions).ok()?.flatten();
    let numbered = directories.filter_map(|version| {
        let number: u32 = version.file_name().to_str()?.parse().ok()?;
        Some((number, version.path().join("bin")))
    });
    numbered.filter(|(_, directory)| is_whole(directory)).max().map(|(_, directory)| directory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::newest;

    #[test]
    fn versions_are_compared_as_numbers_and_only_whole_ones_count() {
        let place = tempfile::tempdir().expect("a directory");
        for (version, names) in [("9", 3), ("15", 3), ("17", 1), ("common", 3)] {
            let bin = place.path().join(version).join("bin");
            fs::create_dir_all(&bin).expect("a directory");
            for name in &["initdb", "postgres", "psql"][..names] {
                fs::write(bin.join(name), "").expect("a file");
            }
        }
        assert_eq!(newest(place.path()), Some(place.path().join("15/bin")));
    }
}
