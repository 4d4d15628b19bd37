//! The signals that what is started here begins with.

use tokio::signal::unix::{SignalKind, signal};

/// Rust ignores it itself, and undoes that in what it starts.
const PIPE: i32 = 13;

/// Whoever started the tests may ignore signals, as `nohup` does and some runners do, and what is
/// ignored stays so in all that is started: a stop key that stops nothing. So those are caught in
/// this process, for that becomes the system's default in a new program.
pub(crate) fn as_at_a_login() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    for number in (1..32).filter(|number| *number != PIPE && ignored >> (number - 1) & 1 == 1) {
        drop(signal(SignalKind::from_raw(number)).unwrap());
    }
}
