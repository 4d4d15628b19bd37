//! The clock that deadlines are judged by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::{Connection, Result, params};
use semel_core::{Clock, StoreTime};

use super::machine::Machine;
use crate::row;

/// A clock with a floor under it: whatever the clock does, this never goes back.
#[derive(Debug)]
pub(crate) struct Timepiece {
    clock: Arc<dyn Clock>,
    floor: AtomicU64,
}

impl Timepiece {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, floor: AtomicU64::new(0) }
    }

    /// The present moment: no earlier than any that was given or seen before.
    pub(crate) fn now(&self) -> StoreTime {
        self.no_earlier_than(self.clock.now())
    }

    /// Takes note of a time that the file holds, and gives the later of it and all before.
    pub(crate) fn no_earlier_than(&self, seen: StoreTime) -> StoreTime {
        let before = self.floor.fetch_max(seen.as_micros(), Ordering::SeqCst);
        StoreTime::from_micros(before.max(seen.as_micros()))
    }
}

/// The machine's clock as this file knows it; sets its offset if this is the first to open it
/// since the machine booted. In the caller's write transaction.
pub(crate) fn anchor(db: &Connection, machine: Arc<dyn Machine>) -> Result<Arc<dyn Clock>> {
    let (Some(boot), Some(since_boot)) = (machine.boot(), machine.since_boot()) else {
        return Ok(Arc::new(WallClock(machine)));
    };
    let (known, offset, seen) =
        db.query_row("SELECT boot, boot_offset, last_time FROM meta WHERE id = 1", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row::time(row, 2)?))
        })?;
    if known == boot {
        return Ok(Arc::new(BootClock { machine, offset }));
    }
    let start = StoreTime::from_micros(machine.wall()).max(seen);
    let since_boot = row::from_time(StoreTime::from_micros(since_boot));
    // Neither is negative, so this can't overflow.
    let offset = row::from_time(start) - since_boot;
    db.execute("UPDATE meta SET boot = ?1, boot_offset = ?2 WHERE id = 1", params![boot, offset])?;
    Ok(Arc::new(BootClock { machine, offset }))
}

/// Time since boot, plus the offset that the file holds for this boot.
#[derive(Debug)]
struct BootClock {
    machine: Arc<dyn Machine>,
    offset: i64,
}

impl Clock for BootClock {
    fn now(&self) -> StoreTime {
        let since_boot = self.machine.since_boot().unwrap_or(0);
        StoreTime::from_micros(since_boot.saturating_add_signed(self.offset))
    }
}

/// The wall clock, for machines that have nothing better.
#[derive(Debug)]
struct WallClock(Arc<dyn Machine>);

impl Clock for WallClock {
    fn now(&self) -> StoreTime {
        StoreTime::from_micros(self.0.wall())
    }
}

/// How long something has taken, for bounds on waiting. Not for deadlines in the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "a bound on a real wait for another process")]
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    #[expect(clippy::disallowed_methods, reason = "a bound on a real wait for another process")]
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
