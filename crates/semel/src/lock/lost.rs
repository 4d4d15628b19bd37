//! Why a lock is not its holder's any more.

use std::fmt;

use semel_core::Owner;
use semel_core::lock::Reason;
use semel_core::protocol::lock::{ForceHow, Lost};

/// Why a lock is not its holder's any more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockLoss {
    /// Its lease ended by the holder's own clock: it was not renewed, or could not be.
    Expired,
    /// The store has it for somebody else, or for nobody although others were there meanwhile.
    Taken,
    /// The store has no entry of it although the lease should still run: it was wiped, fell back to
    /// an older state, or somebody removed the entry.
    StoreReset,
    /// It was held for as long as `max_hold` allows.
    MaxHold,
    /// An operator released it by force.
    ForceReleased {
        /// Who did.
        by: Owner,
        /// Why.
        reason: Reason,
        /// How: revoked, nobody else has it before this holder has stopped or its lease has ended;
        /// freed at once, somebody else may have it already.
        how: ForceHow,
    },
    /// Its lease ended because the store refused to renew it: no room, no permission.
    RenewalRefused,
}

impl LockLoss {
    /// A word for it, for logs and metrics.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Taken => "taken",
            Self::StoreReset => "store-reset",
            Self::MaxHold => "max-hold",
            Self::ForceReleased { .. } => "force-released",
            Self::RenewalRefused => "renewal-refused",
        }
    }

    pub(super) fn of(lost: Lost) -> Self {
        match lost {
            Lost::Forced { note, how } => {
                Self::ForceReleased { by: note.by, reason: note.reason, how }
            }
            Lost::Superseded | Lost::Released => Self::Taken,
            Lost::Gone => Self::StoreReset,
        }
    }
}

impl fmt::Display for LockLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("its lease ended"),
            Self::Taken => f.write_str("somebody else has it"),
            Self::StoreReset => f.write_str("the store lost it"),
            Self::MaxHold => f.write_str("it was held for as long as it may be"),
            Self::ForceReleased { by, reason, how } => {
                let at_once = if *how == ForceHow::AtOnce { " and at once" } else { "" };
                write!(f, "{} released it by force{at_once}: {}", by.as_str(), reason.as_str())
            }
            Self::RenewalRefused => f.write_str("the store refused to renew it"),
        }
    }
}
