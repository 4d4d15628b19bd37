//! Who we are, for people who look at what is held.

use semel_core::Owner;

/// `host (pid 4121)`, or without the host where the system does not tell it.
pub(crate) fn this_process() -> Owner {
    let pid = std::process::id();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .map(|host| host.trim().to_owned())
        .filter(|host| !host.is_empty());
    match host {
        Some(host) => Owner::new(&format!("{host} (pid {pid})")),
        None => Owner::new(&format!("pid {pid}")),
    }
}
