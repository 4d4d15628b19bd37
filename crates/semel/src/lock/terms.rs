//! On which terms a lock is held: checked before anything is asked of a store.

use std::time::Duration;

use semel_core::{Owner, Ttl, TtlError};

use super::error::LockSettingError;

/// How long a lock is held that nobody said a time for.
pub(super) const DEFAULT_TTL: Duration = Duration::from_secs(10);

/// The terms of one acquisition.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) ttl: Ttl,
    pub(super) renewed: bool,
    pub(super) max_hold: Option<Duration>,
    pub(super) min_hold: Ttl,
    pub(super) lock_delay: Ttl,
    pub(super) owner: Owner,
}

/// The same as a caller set them.
#[derive(Debug, Clone)]
pub(super) struct Wishes {
    pub(super) ttl: Duration,
    pub(super) renewed: bool,
    pub(super) max_hold: Option<Duration>,
    pub(super) min_hold: Duration,
    pub(super) lock_delay: Duration,
    pub(super) owner: Owner,
}

impl Wishes {
    pub(super) const fn of(owner: Owner) -> Self {
        Self {
            ttl: DEFAULT_TTL,
            renewed: false,
            max_hold: None,
            min_hold: Duration::ZERO,
            lock_delay: Duration::ZERO,
            owner,
        }
    }

    pub(super) fn checked(&self) -> Result<Terms, LockSettingError> {
        let ttl = named("ttl", Ttl::positive(self.ttl))?;
        if let Some(max_hold) = self.max_hold.filter(|max_hold| *max_hold < self.ttl) {
            return Err(LockSettingError::MaxHoldBelowTtl { max_hold, ttl: self.ttl });
        }
        Ok(Terms {
            ttl,
            renewed: self.renewed,
            max_hold: self.max_hold,
            min_hold: named("min_hold", Ttl::new(self.min_hold))?,
            lock_delay: named("lock_delay", Ttl::new(self.lock_delay))?,
            owner: self.owner.clone(),
        })
    }
}

pub(super) fn named(
    setting: &'static str,
    ttl: Result<Ttl, TtlError>,
) -> Result<Ttl, LockSettingError> {
    ttl.map_err(|fault| LockSettingError::Duration { setting, fault })
}

/// How much earlier than the store a holder takes a lease of this length for over: a hundredth of
/// it, which is twenty times what a clock that works may run wrong, and a millisecond for what is
/// lost in rounding.
pub(super) fn margin(lease: Duration) -> Duration {
    lease / 100 + Duration::from_millis(1)
}

/// What a holder counts on of a lease of this length.
pub(super) fn counted(lease: Duration) -> Duration {
    lease.saturating_sub(margin(lease))
}
