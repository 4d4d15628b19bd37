//! The servers that tests start: found, or installed where that can be done.
//!
//! Debian's packages are installed where they are missing, if this is root on a system that has
//! `apt-get`. Their own services are not started: the tests start what they need themselves.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{Cmd, Failure};
use crate::workspace::Workspace;

/// A server program, and the package that brings it.
struct Server {
    program: &'static str,
    package: &'static str,
    /// Names another place, as the tests read it.
    variable: &'static str,
}

const SERVERS: [Server; 4] = [
    Server { program: "redis-server", package: "redis-server", variable: "SEMEL_REDIS_SERVER" },
    Server { program: "initdb", package: "postgresql", variable: "SEMEL_POSTGRES_BIN" },
    Server { program: "pgbouncer", package: "pgbouncer", variable: "SEMEL_PGBOUNCER" },
    Server {
        program: "rabbitmq-server",
        package: "rabbitmq-server",
        variable: "SEMEL_RABBITMQ_BIN",
    },
];

/// Where servers are beside the directories of `PATH`.
const PLACES: [&str; 4] = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
/// Where Debian keeps the programs of PostgreSQL, each version in a directory of its own.
const POSTGRES: &str = "/usr/lib/postgresql";
/// While this file says 101, Debian's packages do not start their services (policy-rc.d(8)).
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Makes sure that all servers are there.
pub(crate) fn check(here: &Workspace) -> Result<(), Failure> {
    let missing = missing();
    if missing.is_empty() {
        println!("redis-server, postgres, pgbouncer and rabbitmq-server are there");
        return Ok(());
    }
    let install = format!("apt-get install -y {}", missing.join(" "));
    if !can_install(here) {
        return Err(Failure::new(format!("tests need servers: run `{install}` as root")));
    }
    println!("missing: {}; installing Debian's packages", missing.join(", "));
    let held = hold_services();
    let installed = apt(&["update"])
        .run()
        .and_then(|()| apt(&["install", "-y", "--no-install-recommends"]).args(&missing).run());
    if held {
        // Left behind it would keep services from starting for good.
        fs::remove_file(POLICY)
            .map_err(|error| Failure::new(format!("{POLICY} can't be removed: {error}")))?;
    }
    installed?;
    let missing = self::missing();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("still missing after `{install}`: {}", missing.join(", "))))
}

fn apt(args: &[&str]) -> Cmd {
    Cmd::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive")
}

fn missing() -> Vec<&'static str> {
    SERVERS.iter().filter(|server| !server.is_there()).map(|server| server.package).collect()
}

impl Server {
    fn is_there(&self) -> bool {
        if env::var_os(self.variable).is_some_and(|named| !named.is_empty()) {
            return true;
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let mut places: Vec<PathBuf> = env::split_paths(&path).collect();
        places.extend(PLACES.iter().map(PathBuf::from));
        places.extend(versions(Path::new(POSTGRES)));
        places.iter().any(|place| place.join(self.program).is_file())
    }
}

fn versions(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).into_iter().flatten().flatten();
    entries.map(|version| version.path().join("bin")).collect()
}

fn can_install(here: &Workspace) -> bool {
    let id = Cmd::new("id").args(["-u"]).dir(here.root()).quiet();
    let root = id.is_some_and(|id| id.trim_ascii() == b"0");
    root && Path::new("/usr/bin/apt-get").is_file()
}

/// Whether a policy was put in place: none is where there is one already.
fn hold_services() -> bool {
    use std::os::unix::fs::PermissionsExt;
    if Path::new(POLICY).exists() {
        return false;
    }
    let written = fs::write(POLICY, "#!/bin/sh\nexit 101\n")
        .and_then(|()| fs::set_permissions(POLICY, fs::Permissions::from_mode(0o755)));
    if let Err(error) = &written {
        eprintln!("warning: services of the packages may start: {error}");
    }
    written.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_nowhere_is_missing() {
        let nowhere = Server { program: "no-such-server", package: "none", variable: "SEMEL_NONE" };
        assert!(!nowhere.is_there());
    }

    #[test]
    fn a_program_in_a_usual_place_is_found() {
        let shell = Server { program: "env", package: "coreutils", variable: "SEMEL_NONE" };
        assert!(shell.is_there());
    }
}
