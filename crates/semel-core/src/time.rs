//! The store's time, and durations that callers send.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A moment by a store's own clock: microseconds since the Unix epoch, as far as that store
/// knows it. Only the store that made it may compare it with "now".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StoreTime(u64);

impl StoreTime {
    /// A moment from its microseconds since the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The moment `ttl` later; the end of time where it would overflow.
    #[must_use]
    pub const fn after(self, ttl: Ttl) -> Self {
        Self(self.0.saturating_add(ttl.0))
    }

    /// The moment `ttl` earlier; the beginning of time where it would underflow.
    #[must_use]
    pub const fn before(self, ttl: Ttl) -> Self {
        Self(self.0.saturating_sub(ttl.0))
    }

    /// What is left from this moment until `deadline`: zero when the deadline is now or past.
    #[must_use]
    pub const fn until(self, deadline: Self) -> Ttl {
        Ttl(deadline.0.saturating_sub(self.0))
    }

    /// How long ago `earlier` was; zero when it is in the future.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for StoreTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreTime({}us)", self.0)
    }
}

// ===== Ttl =====

/// A time to live, in microseconds: from zero ("already over") to ten years.
///
/// Callers send it; the store turns it into a deadline by its own clock. More than ten years is
/// refused rather than clamped: it is a mistake in units, and deadlines near the end of a number's
/// range are where other systems overflow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ttl(u64);

impl Ttl {
    /// Already over.
    pub const ZERO: Self = Self(0);
    /// Ten years of 365.25 days.
    pub const MAX: Self = Self(315_576_000 * 1_000_000);

    /// A time to live that may be zero. What is finer than a microsecond is rounded up, so that a
    /// positive duration never becomes zero.
    ///
    /// # Errors
    ///
    /// [`TtlError::TooLong`] above [`Ttl::MAX`].
    pub fn new(duration: Duration) -> Result<Self, TtlError> {
        let micros = duration.as_nanos().div_ceil(1_000);
        match u64::try_from(micros) {
            Ok(micros) if micros <= Self::MAX.0 => Ok(Self(micros)),
            _ => Err(TtlError::TooLong),
        }
    }

    /// A time to live that a person or program asked for: it must be positive.
    ///
    /// # Errors
    ///
    /// [`TtlError::Zero`] for zero, [`TtlError::TooLong`] above [`Ttl::MAX`].
    pub fn positive(duration: Duration) -> Result<Self, TtlError> {
        if duration.is_zero() { Err(TtlError::Zero) } else { Self::new(duration) }
    }

    /// From microseconds; none above [`Ttl::MAX`].
    #[must_use]
    pub const fn from_micros(micros: u64) -> Option<Self> {
        if micros <= Self::MAX.0 { Some(Self(micros)) } else { None }
    }

    /// Both together, at most [`Ttl::MAX`].
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        let sum = self.0.saturating_add(other.0);
        if sum <= Self::MAX.0 { Self(sum) } else { Self::MAX }
    }

    /// In microseconds.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// As a duration.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_micros(self.0)
    }

    /// Whether it is over.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ttl({:?})", self.as_duration())
    }
}

/// Why a duration is no time to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TtlError {
    /// Zero where it must be positive.
    #[error("the duration is zero; it must be positive")]
    Zero,
    /// More than [`Ttl::MAX`].
    #[error("the duration is longer than ten years")]
    TooLong,
}

// ===== Clock =====

/// A clock that a store is given. It never goes back.
///
/// Core reads no clock of its own: the memory store is handed one, so that tests own the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The present moment.
    fn now(&self) -> StoreTime;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> StoreTime {
        (**self).now()
    }
}
