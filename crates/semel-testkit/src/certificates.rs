//! Certificates for tests, made anew each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::error::{TestkitError, TestkitResult};
use crate::program::Program;

/// An authority, with certificates that it has given to a server at 127.0.0.1 and to a client.
/// Dropped, they are gone.
#[derive(Debug)]
pub struct Certificates {
    directory: TempDir,
}

/// Names no host but this address: by any other name the server is not the one.
const SERVER: &str = "subjectAltName=IP:127.0.0.1";
const CLIENT: &str = "extendedKeyUsage=clientAuth";

impl Certificates {
    /// Makes an authority and its certificates.
    ///
    /// # Errors
    ///
    /// [`TestkitError`] when `openssl` is not installed or fails.
    pub fn make() -> TestkitResult<Self> {
        let directory =
            tempfile::tempdir().map_err(TestkitError::system("a temporary directory"))?;
        let made = Self { directory };
        made.openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
             -subj /CN=test-authority -keyout ca.key -out ca.pem",
        )?;
        made.give("server", SERVER)?;
        made.give("client", CLIENT)?;
        Ok(made)
    }

    fn give(&self, name: &str, extension: &str) -> TestkitResult<()> {
        let extensions = format!("{name}.ext");
        fs::write(self.file(&extensions), extension).map_err(TestkitError::system("a file"))?;
        self.openssl(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test-{name} \
             -keyout {name}.key -out {name}.csr"
        ))?;
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
             -extfile {extensions} -out {name}.pem"
        ))
    }

    fn openssl(&self, arguments: &str) -> TestkitResult<()> {
        let run = Command::new(Program::OPENSSL.find()?)
            .args(arguments.split_whitespace())
            .current_dir(self.directory.path())
            .output()
            .map_err(TestkitError::system("running openssl"))?;
        if run.status.success() {
            return Ok(());
        }
        let log = String::from_utf8_lossy(&run.stderr).into_owned();
        Err(TestkitError::Server { what: "openssl failed".to_owned(), log })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Where they are. Files stay readable for who knows their names: `ca.pem`, `server.pem`,
    /// `server.key`, `client.pem` and `client.key`.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The authority's own certificate.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.file("ca.pem")
    }

    /// The certificate and the key of a server or a client, by those names.
    #[must_use]
    pub fn of(&self, whose: &str) -> (PathBuf, PathBuf) {
        (self.file(&format!("{whose}.pem")), self.file(&format!("{whose}.key")))
    }
}
