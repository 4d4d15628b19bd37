//! A claim that only its transaction sees yet.

use std::fmt;

use super::wire::{decoded, next_of};
use crate::key::{Key, KeyDigest};
use crate::protocol::Write;
use crate::record::{Claim, Outcome, Record, State};
use crate::store::{Expect, Next, Snapshot, Version};
use crate::store_error::StoreError;
use crate::time::Ttl;

/// A claim that was made in a transaction which has not been committed yet.
///
/// It is plain data: it holds neither transaction nor connection, and dropping it does nothing.
#[derive(Clone)]
#[must_use = "a claim without an outcome must not be committed"]
pub struct Claimed {
    pub(super) key: Key,
    pub(super) digest: KeyDigest,
    pub(super) claim: Claim,
    pub(super) version: Version,
    pub(super) keep: Ttl,
}

/// What became of a transaction whose commit was not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was committed: its record is there.
    Committed,
    /// It was rolled back: its record is not there.
    RolledBack,
}

impl Claimed {
    /// Its key.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The digest of its key.
    #[must_use]
    pub const fn digest(&self) -> KeyDigest {
        self.digest
    }

    /// The claim as it stands in the record.
    #[must_use]
    pub const fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The version that the claim was given, which doubles as its fencing token.
    #[must_use]
    pub const fn fence(&self) -> Version {
        self.version
    }

    /// The swap that records an outcome, in the same transaction. It can't be lost: until the
    /// commit nobody else changes the row.
    #[must_use]
    pub fn outcome(&self, outcome: Outcome) -> (Expect, Next) {
        let record = Record { claim: self.claim.clone(), state: State::Done(outcome) };
        let write = Write::Put { record, lease: Ttl::ZERO, keep: self.keep };
        (Expect::Version(self.version), next_of(&self.digest, write))
    }

    /// What became of the transaction, by what is under the key now that it has ended.
    ///
    /// # Errors
    ///
    /// `Damaged` when there is an entry that can't be read as a record of this key.
    pub fn fate(&self, snapshot: &Snapshot) -> Result<Fate, StoreError> {
        let seen = decoded(&self.digest, snapshot)?;
        let ours = seen.owned_by(self.claim.token);
        Ok(match ours.map(|ours| &ours.record.state) {
            Some(State::Done(_)) => Fate::Committed,
            Some(State::Held | State::Doubt(_)) | None => Fate::RolledBack,
        })
    }
}

impl fmt::Debug for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed")
            .field("key", &self.key)
            .field("fence", &self.version)
            .finish_non_exhaustive()
    }
}
