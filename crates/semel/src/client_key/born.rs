//! The moment a key says it was made.

use std::fmt;
use std::time::Duration;

use semel_core::StoreTime;

/// Milliseconds since the Unix epoch: the resolution of UUIDv7 and ULID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(u64);

impl UnixMillis {
    /// A moment from its milliseconds since the Unix epoch.
    #[must_use]
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// How long ago this moment was at `now`. Zero for a moment in the future: clocks differ, and
    /// a key that seems to come from tomorrow is young.
    #[must_use]
    pub const fn age(self, now: Self) -> Duration {
        Duration::from_millis(now.0.saturating_sub(self.0))
    }

    /// Whether more than `limit` has passed at `now`. Exactly `limit` is not older, and a moment
    /// in the future never is.
    #[must_use]
    pub fn is_older_than(self, limit: Duration, now: Self) -> bool {
        self.age(now) > limit
    }
}

impl From<StoreTime> for UnixMillis {
    /// The store's moment, rounded down to the millisecond.
    fn from(time: StoreTime) -> Self {
        Self(time.as_micros() / 1_000)
    }
}

impl fmt::Debug for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnixMillis({})", self.0)
    }
}
