//! Where servers have their data.

use std::path::PathBuf;
use std::{env, io};

use tempfile::TempDir;

/// Linux's file system in memory.
const MEMORY: &str = "/dev/shm";

/// So much must be free there, in bytes: many times what the servers of all tests take that run
/// side by side.
const ROOM: u64 = 4 << 30;

/// What the data lie on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Medium {
    /// Memory, where there is room: a disk that is busy with something else must not decide a test.
    /// What a process wrote outlasts its `kill -9` there as on a disk.
    #[default]
    Memory,
    /// Whatever temporary files lie on.
    Disk,
}

/// A directory for a server.
pub(crate) fn directory(prefix: &str, medium: Medium) -> io::Result<TempDir> {
    let in_memory = medium == Medium::Memory && has_room();
    let place = if in_memory { PathBuf::from(MEMORY) } else { env::temp_dir() };
    tempfile::Builder::new().prefix(prefix).tempdir_in(place)
}

/// Where such directories may be.
pub(crate) fn places() -> [PathBuf; 2] {
    [PathBuf::from(MEMORY), env::temp_dir()]
}

fn has_room() -> bool {
    let free = |disk: rustix::fs::StatVfs| disk.f_bavail.saturating_mul(disk.f_frsize);
    rustix::fs::statvfs(MEMORY).is_ok_and(|disk| free(disk) >= ROOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_in_one_of_the_places_and_goes_with_its_owner() {
        for medium in [Medium::Memory, Medium::Disk] {
            let directory = directory("semel-scratch-", medium).expect("a directory");
            let path = directory.path().to_owned();
            assert!(places().iter().any(|place| path.parent() == Some(place)), "{path:?}");
            std::fs::write(path.join("data"), "x").expect("it can be written to");
            drop(directory);
            assert!(!path.exists(), "{path:?}");
        }
    }
}
