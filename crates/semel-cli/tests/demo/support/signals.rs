//! The signals that what is started here begins with.

use nix::sys::signal::SigSet;
use tokio::signal::unix::{SignalKind, signal};

/// Rust ignores it itself, and undoes that in what it starts.
const PIPE: i32 = 13;

/// Whoever started the tests may ignore or block signals, as `nohup` does and some runners do, and
/// that stays so in all that is started: a stop key that stops nothing. So what is ignored is
/// caught in this process, for that becomes the system's default in a new program; and what is
/// blocked in this thread, which starts the programs, is let through.
pub(crate) fn as_at_a_login() {
    SigSet::all().thread_unblock().unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    for number in (1..32).filter(|number| *number != PIPE && ignored >> (number - 1) & 1 == 1) {
        drop(signal(SignalKind::from_raw(number)).unwrap());
    }
}
