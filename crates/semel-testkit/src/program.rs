//! Where programs are.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{TestkitError, TestkitResult};

/// A program that tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// What it is called.
    pub name: &'static str,
    /// The environment variable that may name another file to run.
    pub variable: &'static str,
    /// Where it may be, beside the directories of `PATH`.
    pub places: &'static [&'static str],
    /// What to run where it is missing.
    pub install: &'static str,
}

impl Program {
    /// The Redis or Valkey server. `SEMEL_REDIS_SERVER` may name another one, to run the same
    /// tests on it.
    pub const REDIS_SERVER: Self = Self {
        name: "redis-server",
        variable: "SEMEL_REDIS_SERVER",
        places: &["/usr/bin", "/usr/local/bin", "/opt/redis/bin", "/opt/homebrew/bin"],
        install: "apt-get install redis-server",
    };

    /// The tool that makes certificates.
    pub const OPENSSL: Self = Self {
        name: "openssl",
        variable: "SEMEL_OPENSSL",
        places: &["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"],
        install: "apt-get install openssl",
    };

    /// Finds it.
    ///
    /// # Errors
    ///
    /// [`TestkitError::Missing`], which says what to install.
    pub fn find(&self) -> TestkitResult<PathBuf> {
        self.named().or_else(|| self.on_path()).ok_or(TestkitError::Missing {
            program: self.name,
            install: self.install,
            variable: self.variable,
        })
    }

    /// What the variable names, if it is set: there is no falling back from a wrong name.
    fn named(&self) -> Option<PathBuf> {
        env::var_os(self.variable).filter(|name| !name.is_empty()).map(PathBuf::from)
    }

    fn on_path(&self) -> Option<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let places = self.places.iter().map(PathBuf::from);
        env::split_paths(&path)
            .chain(places)
            .map(|directory| directory.join(self.name))
            .find(|file| is_program(file))
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|is| is.is_file() && is.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::Program;

    const NOWHERE: Program = Program {
        name: "semel-no-such-program",
        variable: "SEMEL_NO_SUCH_VARIABLE",
        places: &["/nonexistent"],
        install: "apt-get install semel-no-such-package",
    };

    #[test]
    fn a_missing_program_says_in_one_line_what_to_install() {
        let error = NOWHERE.find().expect_err("nothing has that name").to_string();
        assert!(error.contains("apt-get install semel-no-such-package"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }

    #[test]
    fn a_program_is_found_in_the_places_beside_the_path() {
        let shell = Program { name: "sh", places: &["/bin"], ..NOWHERE };
        assert!(shell.find().expect("every system has a shell").ends_with("sh"));
    }
}
