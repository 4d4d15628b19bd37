//! A call, and what to do so that it begins.

use super::began::{Began, Nobody};
use super::claimed::Claimed;
use super::wire::{decoded, next_of};
use crate::key::{Key, KeyDigest};
use crate::protocol::{Begin, Begun, Seen, Verdict, decide};
use crate::record::Claim;
use crate::store::{Expect, Next, Snapshot, Version};
use crate::store_error::StoreError;
use crate::time::Ttl;

/// A call that wants to begin in a transaction.
#[derive(Debug, Clone)]
pub struct Call {
    key: Key,
    digest: KeyDigest,
    begin: Begin,
    keep: Ttl,
}

/// What to do next so that a call begins.
#[derive(Debug)]
pub enum Step {
    /// Try this swap, in the transaction. If it wins, the call is [`Call::claimed`].
    Swap {
        /// What must still be there.
        expect: Expect,
        /// What to write.
        next: Next,
        /// 1 unless the claim is taken over.
        attempt: u32,
    },
    /// It does not begin.
    Settled(Began<Nobody>),
}

impl Call {
    /// A call under this key. What comes of it is remembered for `keep`, from the moment it is
    /// recorded.
    #[must_use]
    pub fn new(key: Key, begin: Begin, keep: Ttl) -> Self {
        let digest = key.digest();
        Self { key, digest, begin, keep }
    }

    /// Its key.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The claim that it would make.
    #[must_use]
    pub const fn claim(&self) -> &Claim {
        &self.begin.claim
    }

    /// The digest of its key.
    #[must_use]
    pub const fn digest(&self) -> KeyDigest {
        self.digest
    }

    /// What follows from what is there. Begin with [`Seen::presumed_free`].
    #[must_use]
    pub fn step(&self, seen: &Seen) -> Step {
        match decide(seen, &self.begin) {
            Verdict::Answer(begun) => self.settled(seen, begun),
            Verdict::Write { expect, write, answer } => {
                let attempt = match answer {
                    Begun::Fresh { attempt } => attempt,
                    _ => self.begin.claim.attempt,
                };
                Step::Swap { expect, next: next_of(&self.digest, write), attempt }
            }
        }
    }

    /// What was seen, decoded.
    ///
    /// # Errors
    ///
    /// `Damaged` when there is an entry that can't be read as a record of this key.
    pub fn seen(&self, snapshot: &Snapshot) -> Result<Seen, StoreError> {
        decoded(&self.digest, snapshot)
    }

    /// The claim, after the swap of a [`Step::Swap`] was won with this version.
    pub fn claimed(&self, attempt: u32, version: Version) -> Claimed {
        let claim = Claim { attempt, ..self.begin.claim.clone() };
        Claimed { key: self.key.clone(), digest: self.digest, claim, version, keep: self.keep }
    }

    fn settled(&self, seen: &Seen, begun: Begun) -> Step {
        Step::Settled(match begun {
            Begun::Replay(outcome) => Began::Replay(outcome),
            Begun::InFlight { lease_left } => Began::InFlight { lease_left },
            Begun::KeyReused { recorded } => Began::KeyReused { recorded },
            Begun::Mismatch { differs } => Began::Mismatch { differs },
            Begun::InDoubt { since } => Began::InDoubt { since },
            Begun::Reconcile(there) => Began::Reconcile(there),
            // A record of this very token that is committed and held: it was made elsewhere, and
            // no transaction of ours stands behind it.
            Begun::Fresh { .. } => {
                let left = seen.owned_by(self.begin.claim.token).map(|ours| ours.lease_left);
                Began::InFlight { lease_left: left.unwrap_or(Ttl::ZERO) }
            }
        })
    }
}
