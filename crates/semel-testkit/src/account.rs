//! Whose processes servers are: PostgreSQL and RabbitMQ are not to be root's.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use crate::error::{TestkitError, TestkitResult};
use crate::program::Program;

const SETPRIV: Program = Program {
    name: "setpriv",
    variable: "SEMEL_SETPRIV",
    places: &["/usr/bin", "/bin"],
    install: "apt-get install util-linux",
};

/// Whom servers run as, in order of preference, where we are root.
const NAMES: [&str; 2] = ["postgres", "nobody"];

/// Whom servers run as that are not to be root's.
#[derive(Debug, Clone)]
pub(crate) enum Account {
    /// As ourselves.
    Ours(u32),
    /// As somebody with fewer privileges, for we are root.
    Other { setpriv: PathBuf, uid: u32, gid: u32 },
}

impl Account {
    pub(crate) fn find() -> TestkitResult<Self> {
        let uid = rustix::process::geteuid();
        if !uid.is_root() {
            return Ok(Self::Ours(uid.as_raw()));
        }
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let found = NAMES.iter().find_map(|name| ids_of(&users, name));
        let (uid, gid) = found.unwrap_or((65_534, 65_534));
        Ok(Self::Other { setpriv: SETPRIV.find()?, uid, gid })
    }

    pub(crate) const fn uid(&self) -> u32 {
        match self {
            Self::Ours(uid) | Self::Other { uid, .. } => *uid,
        }
    }

    /// What to run so that `program` runs as this account. The process stays one and the same.
    pub(crate) fn command<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> (PathBuf, Vec<OsString>) {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        match self {
            Self::Ours(_) => (program.to_owned(), arguments.collect()),
            Self::Other { setpriv, uid, gid } => {
                let dropped = [
                    format!("--reuid={uid}"),
                    format!("--regid={gid}"),
                    "--clear-groups".to_owned(),
                    "--".to_owned(),
                ];
                let dropped = dropped.into_iter().map(OsString::from);
                let program = [program.as_os_str().to_owned()];
                (setpriv.clone(), dropped.chain(program).chain(arguments).collect())
            }
        }
    }

    /// Writes a file of its own. One of ours it may not be able to read: that depends on the umask
    /// of whoever started the tests.
    pub(crate) fn write(&self, file: &Path, text: impl AsRef<[u8]>) -> TestkitResult<()> {
        fs::write(file, text).map_err(TestkitError::system("a file of settings"))?;
        self.give(file)
    }

    /// Hands a file or a directory over.
    pub(crate) fn give(&self, path: &Path) -> TestkitResult<()> {
        match self {
            Self::Ours(_) => Ok(()),
            Self::Other { uid, gid, .. } => chown(path, Some(*uid), Some(*gid))
                .map_err(TestkitError::system("handing a file or a directory over")),
        }
    }
}

fn ids_of(users: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields = users.lines().map(|line| line.split(':')).find_map(|mut fields| {
        let found = fields.next() == Some(name);
        found.then_some(fields)
    })?;
    fields.next();
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::ids_of;

    #[test]
    fn a_users_numbers_are_those_of_its_line() {
        let users = "root:x:0:0::/root:/bin/sh\npostgres:x:101:104:,,,:/var:/bin/bash\n";
        assert_eq!(ids_of(users, "postgres"), Some((101, 104)));
        assert_eq!(ids_of(users, "post"), None);
    }
}
