//! This program, in another role.

use std::io;
use std::path::PathBuf;

/// This program, to be started in another role. The link holds also when the file was replaced.
pub(super) fn this_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}
