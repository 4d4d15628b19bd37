//! A clock that only moves when it is told to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::time::{Clock, StoreTime};

/// A clock for tests: it stands still until somebody moves it, and never goes back.
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that shows `start`.
    #[must_use]
    pub const fn at(start: StoreTime) -> Self {
        Self(AtomicU64::new(start.as_micros()))
    }

    /// Moves it on; what is finer than a microsecond is cut off.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| {
                Some(now.saturating_add(micros))
            })
            .ok();
    }
}

impl Clock for ManualClock {
    fn now(&self) -> StoreTime {
        StoreTime::from_micros(self.0.load(Ordering::SeqCst))
    }
}
