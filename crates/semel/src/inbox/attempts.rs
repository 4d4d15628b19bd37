//! Counting, in the store, how often a message was tried.

use std::pin::pin;
use std::sync::Arc;

use semel_core::{
    Expect, Next, Snapshot, Store, StoreError, StoreResult, Swap, Touch, Ttl, Version, codec,
};

use crate::drive::{Address, in_time};

/// How often a count is written anew because another was written meanwhile.
const ROUNDS: usize = 16;

/// How often a message may be tried before it counts as poison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptLimit {
    /// As often as it is delivered. The broker, or somebody, has to end it; nothing is counted.
    Unlimited,
    /// So often. Default: 5.
    AtMost(u32),
}

impl Default for AttemptLimit {
    fn default() -> Self {
        Self::AtMost(5)
    }
}

impl AttemptLimit {
    /// Whether so many attempts are all that there may be.
    pub(super) const fn is_reached(self, attempts: u32) -> bool {
        match self {
            Self::Unlimited => false,
            Self::AtMost(most) => attempts >= most,
        }
    }
}

/// The count of one message's attempts in the store: those of which no record tells.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) store: Arc<dyn Store>,
    pub(super) at: Address,
    pub(super) keep: Ttl,
}

/// A count as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    pub(super) number: u32,
    /// None where nothing is there.
    version: Option<Version>,
}

impl Counter {
    /// How many there are.
    pub(super) async fn read(&self) -> Result<Count, StoreError> {
        let snapshot = in_time(pin!(self.store.read(&self.at.key, Touch::No))).await?;
        self.seen(&snapshot)
    }

    /// Writes another number, starting from what was seen or is presumed. Nothing is written for
    /// zero: then nothing is there.
    pub(super) async fn change(
        &self,
        seen: Count,
        to: impl Fn(u32) -> u32,
    ) -> Result<Count, StoreError> {
        in_time(pin!(self.changed(seen, to))).await
    }

    async fn changed(&self, mut seen: Count, to: impl Fn(u32) -> u32) -> Result<Count, StoreError> {
        for _ in 0..ROUNDS {
            let number = to(seen.number);
            if number == seen.number {
                return Ok(seen);
            }
            match self.write(seen, number).await? {
                Swap::Won(stamp) => {
                    let version = (number > 0).then_some(stamp.version);
                    return Ok(Count { number, version });
                }
                Swap::Lost(snapshot) => seen = self.seen(&snapshot)?,
            }
        }
        Err(StoreError::not_applied("the count of attempts changes all the time"))
    }

    async fn write(&self, seen: Count, number: u32) -> StoreResult<Swap> {
        let expect = seen.version.map_or(Expect::Absent, Expect::Version);
        let next = if number == 0 {
            Next::Delete
        } else {
            let value = codec::encode_attempts(&self.at.digest, number);
            Next::Put { value, lease: Ttl::ZERO, keep: self.keep }
        };
        self.store.swap(&self.at.key, expect, next).await
    }

    /// A count that can't be read is never taken for none.
    fn seen(&self, snapshot: &Snapshot) -> Result<Count, StoreError> {
        let Some(entry) = &snapshot.entry else { return Ok(Count::default()) };
        let number = codec::decode_attempts(&self.at.digest, &entry.value).map_err(|damaged| {
            StoreError::damaged(format!("the attempts of key {}", self.at.digest))
                .caused_by(damaged)
        })?;
        Ok(Count { number, version: Some(entry.version) })
    }
}
