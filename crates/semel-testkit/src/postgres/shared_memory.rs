//! The shared memory of servers that were killed.
//!
//! A server marks its data directory as taken with a small segment of System V shared memory. One
//! that ends by `kill -9` leaves it to its successor; the servers of tests have none, and a system
//! has room for a few thousand segments.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// All segments of a Linux system, one a line: key and id come first.
const SEGMENTS: &str = "/proc/sysvipc/shm";

/// Frees the segment of the server that was killed on `data`, if one was.
pub(super) fn free(data: &Path) {
    let Some((key, id)) = segment(data) else { return };
    // The number may be another's by now, after a restart of the machine. Elsewhere than on Linux
    // there is no such list.
    if fs::read_to_string(SEGMENTS).is_ok_and(|list| !is_listed(&list, &key, &id)) {
        return;
    }
    let mut command = Command::new("ipcrm");
    let _ = command.args(["-m", &id]).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// Key and id, from the seventh line of the lock file, which only a server that was killed leaves.
fn segment(data: &Path) -> Option<(String, String)> {
    let lock = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let mut words = lock.lines().nth(6)?.split_whitespace().map(str::to_owned);
    Some((words.next()?, words.next()?))
}

/// The list has keys as signed numbers, the lock file as unsigned ones.
fn is_listed(list: &str, key: &str, id: &str) -> bool {
    let Ok(key) = key.parse::<u32>().map(u32::cast_signed) else { return false };
    list.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next().and_then(|word| word.parse().ok()) == Some(key) && words.next() == Some(id)
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::{SEGMENTS, is_listed, segment};
    use crate::PostgresServer;

    fn exists((key, id): &(String, String)) -> bool {
        is_listed(&fs::read_to_string(SEGMENTS).expect("the list of segments"), key, id)
    }

    /// The machine ran out of segments after some thousand servers: no server started any more.
    #[tokio::test]
    async fn a_server_that_was_killed_leaves_no_shared_memory() {
        let mut server = PostgresServer::launch().await.expect("a server");
        let used = segment(&server.data()).expect("it names its segment");
        assert!(exists(&used), "{used:?} must be there");
        server.kill().await.expect("its end");
        assert!(exists(&used), "the system keeps it for the next server on this data");
        server.start().await.expect("it starts again");
        let used = segment(&server.data()).expect("it names its segment");
        drop(server);
        assert!(!exists(&used), "{used:?} must be gone");
    }

    #[test]
    fn a_segment_is_known_by_key_and_id() {
        let list = "       key      shmid perms\n  10272772          7  1600\n        -1 8 600\n";
        assert!(is_listed(list, "10272772", "7"));
        assert!(is_listed(list, "4294967295", "8"));
        assert!(!is_listed(list, "10272772", "8"));
        assert!(!is_listed(list, "", "7"));
    }
}
