//! Where the programs of RabbitMQ are.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{TestkitError, TestkitResult};
use crate::program::Program;

/// Names a directory to take the scripts from, to run the same tests on another version.
const VARIABLE: &str = "SEMEL_RABBITMQ_BIN";

/// Where the scripts themselves are. What Debian has in `PATH` under their names goes on as a user
/// of its own, in a directory of its own.
const PLACES: [&str; 3] =
    ["/usr/lib/rabbitmq/bin", "/usr/local/opt/rabbitmq/sbin", "/opt/homebrew/opt/rabbitmq/sbin"];

/// Erlang's table of nodes, without which none starts.
const EPMD: Program = Program {
    name: "epmd",
    variable: "SEMEL_EPMD",
    places: &["/usr/bin", "/usr/lib/erlang/bin", "/usr/local/bin", "/opt/homebrew/bin"],
    install: "apt-get install rabbitmq-server",
};

#[derive(Debug, Clone)]
pub(super) struct Programs {
    pub(super) server: PathBuf,
    pub(super) epmd: PathBuf,
}

impl Programs {
    pub(super) fn find() -> TestkitResult<Self> {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let found = match named {
            // There is no falling back from a wrong name.
            Some(named) => Some(named).filter(|named| is_whole(named)),
            None => usual().find(|place| is_whole(place)),
        };
        let directory = found.ok_or(TestkitError::Missing {
            program: "rabbitmq-server",
            install: "apt-get install rabbitmq-server",
            variable: VARIABLE,
        })?;
        Ok(Self { server: directory.join("rabbitmq-server"), epmd: EPMD.find()? })
    }
}

fn usual() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    PLACES.into_iter().map(PathBuf::from).chain(path)
}

/// The scripts read one another.
fn is_whole(directory: &Path) -> bool {
    ["rabbitmq-server", "rabbitmq-env", "rabbitmq-defaults"]
        .iter()
        .all(|name| directory.join(name).is_file())
}
