//! What was seen under a key, decoded.

use crate::codec::{self, Damaged};
use crate::key::KeyDigest;
use crate::record::{Claim, Outcome, Record, State, Token};
use crate::store::{Snapshot, Version};
use crate::time::{StoreTime, Ttl};

/// A snapshot whose record could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The store's clock at that moment.
    pub now: StoreTime,
    /// The record; none when the key is free.
    pub record: Option<SeenRecord>,
}

/// A record with what the store says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRecord {
    /// The entry's version.
    pub version: Version,
    /// What is left of its lease; zero when that has ended.
    pub lease_left: Ttl,
    /// What is left of its keep.
    pub keep_left: Ttl,
    /// What it says.
    pub record: Record,
}

impl Seen {
    /// Decodes a snapshot of the key with this digest.
    ///
    /// # Errors
    ///
    /// [`Damaged`] when there is an entry that can't be read as a record of this key.
    pub fn of(key: &KeyDigest, snapshot: &Snapshot) -> Result<Self, Damaged> {
        let record = match &snapshot.entry {
            None => None,
            Some(entry) => Some(SeenRecord {
                version: entry.version,
                lease_left: entry.lease_left,
                keep_left: entry.keep_left,
                record: codec::decode(key, &entry.value)?,
            }),
        };
        Ok(Self { now: snapshot.now, record })
    }

    /// A key presumed free: what a caller that knows nothing starts from. If the presumption is
    /// wrong the swap loses and brings the truth.
    #[must_use]
    pub const fn presumed_free() -> Self {
        Self { now: StoreTime::from_micros(0), record: None }
    }

    /// A key presumed to be held by this claim at this version: what an owner starts from.
    ///
    /// The version must be one that the store gave to this very claim, when it was made or
    /// renewed. If it is old, the swap loses and brings the truth; but nothing else stands between
    /// a wrong one and somebody else's record. A version that came with an outcome is one of
    /// [`Seen::presumed_done`]: taken for held, the outcome could be freed or replaced.
    #[must_use]
    pub const fn presumed_held(claim: Claim, version: Version) -> Self {
        Self::presumed(Record { claim, state: State::Held }, version, Ttl::MAX)
    }

    /// A key presumed to hold this outcome of this claim at this version: what an owner starts
    /// from that has recorded a part, to add the rest of it.
    ///
    /// The version must be the one that the store gave to this very outcome.
    #[must_use]
    pub const fn presumed_done(claim: Claim, outcome: Outcome, version: Version) -> Self {
        Self::presumed(Record { claim, state: State::Done(outcome) }, version, Ttl::ZERO)
    }

    const fn presumed(record: Record, version: Version, lease_left: Ttl) -> Self {
        let seen = SeenRecord { version, lease_left, keep_left: Ttl::MAX, record };
        Self { now: StoreTime::from_micros(0), record: Some(seen) }
    }

    /// The record if it belongs to this token.
    #[must_use]
    pub fn owned_by(&self, token: Token) -> Option<&SeenRecord> {
        self.record.as_ref().filter(|seen| seen.record.claim.token == token)
    }
}

impl SeenRecord {
    /// Since when nothing was heard: the time in the entry's version, which every store takes
    /// from its clock.
    #[must_use]
    pub const fn last_written(&self) -> StoreTime {
        StoreTime::from_micros(self.version.get())
    }
}
