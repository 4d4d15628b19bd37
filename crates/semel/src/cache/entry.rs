//! What is under a key, as a cache sees it.

use semel_core::{
    CacheEntry, Renewal, Snapshot, StoreError, StoreErrorKind, StoreResult, Ttl, Version, codec,
};

use crate::drive::Address;

/// An entry that can be read. One whose sliding lifetime is over is absent for readers, though its
/// bytes are still there.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) version: Version,
    pub(super) entry: CacheEntry,
    lease_left: Ttl,
    keep_left: Ttl,
}

impl Seen {
    /// What a snapshot shows.
    ///
    /// # Errors
    ///
    /// `Damaged` for bytes that are no cached value of this key.
    pub(super) fn of(at: &Address, snapshot: &Snapshot) -> StoreResult<Option<Self>> {
        let Some(there) = &snapshot.entry else { return Ok(None) };
        let decoded = codec::decode_cache(&at.digest, &there.value);
        let entry = decoded.map_err(|fault| damaged(at, fault))?;
        let (lease_left, keep_left) = (there.lease_left, there.keep_left);
        Ok(Some(Self { version: there.version, entry, lease_left, keep_left }))
    }

    pub(super) const fn is_live(&self) -> bool {
        !self.lease_left.is_zero()
    }

    /// Whether a read has anything to renew. Not within the first hundredth of a sliding lifetime: a
    /// value that everybody reads would cost a write for each read. And not where it would end no
    /// later than it does.
    pub(super) fn is_due(&self) -> bool {
        match self.entry.renewal {
            Renewal::Never => false,
            Renewal::Lease(sliding) => self.lease_left < nearly(sliding).min(self.keep_left),
            Renewal::Keep(sliding) => self.keep_left < nearly(sliding),
        }
    }
}

/// There is an entry and it can't be read: somebody has to look at it.
fn damaged(at: &Address, fault: codec::Damaged) -> StoreError {
    metrics::counter!("semel_cache_damaged_total").increment(1);
    tracing::error!(key = %at.digest, %fault, "a cached value is damaged");
    StoreError::damaged(format!("the cached value of key {}", at.digest)).caused_by(fault)
}

/// Less a hundredth.
fn nearly(sliding: Ttl) -> Ttl {
    let micros = sliding.as_micros();
    Ttl::from_micros(micros - micros / 100).unwrap_or(sliding)
}

/// Others were faster again and again.
pub(super) fn contention() -> StoreError {
    StoreError::not_applied("the cached value changed again and again between a look and a write")
}

/// What a look that failed before anything was written comes to.
pub(super) fn nothing_written(error: StoreError) -> StoreError {
    match error.kind() {
        StoreErrorKind::Unknown => {
            StoreError::not_applied("the cached value could not be looked at").caused_by(error)
        }
        _ => error,
    }
}
