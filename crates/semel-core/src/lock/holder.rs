//! A holder of a lock.

use super::kind::Mode;
use super::note::Note;
use crate::fence::Fence;
use crate::record::{Owner, Token};
use crate::store::Version;
use crate::time::{StoreTime, Ttl};

/// Who holds a lock, or held it a moment ago.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Holder {
    /// What proves that it is theirs; fresh for each acquisition.
    pub token: Token,
    /// Whether others may hold it beside them.
    pub mode: Mode,
    /// Who it is, for people.
    pub owner: Option<Owner>,
    /// What the grant was stamped with. None in the write that granted, which can't know it:
    /// then the entry's version says it. Whoever writes next fills it in.
    pub grant: Option<Grant>,
    /// When their lease ends, by the store's clock. None: with the entry's own lease, which the
    /// store stamped. Whoever else writes next fills it in, so that nothing lengthens the lease of
    /// a holder that is gone.
    pub until: Option<StoreTime>,
    /// How long the next grant waits if their lease ends without a release.
    pub lock_delay: Ttl,
    /// How long nobody else gets it after the grant, even if it is released.
    pub min_hold: Ttl,
    /// How far it is.
    pub stage: Stage,
}

/// What a grant was stamped with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grant {
    /// Its fence: the version of the write that granted.
    pub fence: Fence,
    /// When it was, by the store's clock.
    pub since: StoreTime,
}

impl Grant {
    /// The grant that a write of this version made.
    #[must_use]
    pub fn by(version: Version) -> Self {
        // Every store takes its versions from its clock.
        Self { fence: version.into(), since: StoreTime::from_micros(version.get()) }
    }
}

/// How far a holder is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stage {
    /// It holds the lock.
    Held,
    /// It was told to stop, and renews no more. Others get the lock when it has released it, or
    /// when its lease ends.
    Revoked(Note),
    /// It released the lock before its least time was over, or was forced to with a delay: nobody
    /// holds it and nobody gets it until then.
    Resting,
}

impl Holder {
    /// When others may get what this one holds, if its lease ends at `until`: after the delay that
    /// an end without a release has, and not before its least time is over.
    #[must_use]
    pub fn blocks_until(&self, until: StoreTime) -> StoreTime {
        match self.stage {
            Stage::Held | Stage::Revoked(_) => {
                let delayed = until.after(self.lock_delay);
                self.least_until().map_or(delayed, |least| least.max(delayed))
            }
            Stage::Resting => until,
        }
    }

    /// When its least time is over; none if there is none.
    #[must_use]
    pub fn least_until(&self) -> Option<StoreTime> {
        // A version may be a little ahead of the clock: what is none must not become a little.
        let grant = self.grant.filter(|_| !self.min_hold.is_zero())?;
        Some(grant.since.after(self.min_hold))
    }

    /// How long this holder may block the lock beyond its lease.
    #[must_use]
    pub fn afterwards(&self) -> Ttl {
        self.lock_delay.max(self.min_hold)
    }
}
