//! What the machine can tell about time.

use std::fmt;

/// A machine's clocks. Apart from the store's clock so that tests can boot one and set its clock.
pub(crate) trait Machine: Send + Sync + fmt::Debug {
    /// Which boot this is, where the machine can tell.
    fn boot(&self) -> Option<String>;

    /// Microseconds since boot, time asleep included, where the machine counts them.
    fn since_boot(&self) -> Option<u64>;

    /// The wall clock: microseconds since the Unix epoch.
    fn wall(&self) -> u64;
}

/// The machine this runs on.
#[derive(Debug)]
pub(crate) struct RealMachine;

impl Machine for RealMachine {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn boot(&self) -> Option<String> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let boot = boot.trim();
        // Kernels before 5.6 have no time namespaces, so one name does for all their processes.
        let space = std::fs::read_link("/proc/self/ns/time");
        let space = space.as_deref().map_or("time:[]".into(), |space| space.to_string_lossy());
        (!boot.is_empty()).then(|| format!("{boot} {space}"))
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn boot(&self) -> Option<String> {
        None
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn since_boot(&self) -> Option<u64> {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(time.tv_sec).ok()?;
        let micros = u64::try_from(time.tv_nsec).ok()? / 1_000;
        seconds.checked_mul(1_000_000)?.checked_add(micros)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn since_boot(&self) -> Option<u64> {
        None
    }

    #[expect(clippy::disallowed_methods, reason = "this is the store's clock")]
    fn wall(&self) -> u64 {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        wall.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }
}
