//! Drives a decision through a store: swap, decide, swap.

use semel_core::protocol::{Ask, Seen, Verdict, Write, decide};
use semel_core::{
    Key, KeyDigest, Next, Store, StoreError, StoreErrorKind, Swap, Touch, Version, codec,
};

/// How often a decision is taken anew because somebody else was faster.
const ROUNDS: usize = 16;

/// A key with its digest, which every read and write needs.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) key: Key,
    pub(crate) digest: KeyDigest,
}

impl Address {
    pub(crate) fn of(key: Key) -> Self {
        let digest = key.digest();
        Self { key, digest }
    }
}

/// An answer, and where it stands.
#[derive(Debug)]
pub(crate) struct Driven<A> {
    pub(crate) answer: A,
    /// The version that the answer rests on; none for a key that is free.
    pub(crate) version: Option<Version>,
}

/// Puts `ask` to a key, starting from what is presumed or was just seen.
///
/// In the common case the presumption holds and this is one round trip. A lost swap brings what
/// is there, so the next decision costs no extra read. A write whose reply was lost is settled by
/// reading: the token in the record tells whether it was ours.
///
/// # Errors
///
/// The store's, unchanged. `NotApplied` also after [`ROUNDS`] lost rounds.
///
/// # Cancel safety
///
/// Dropped at an await, the last write may have been applied or not.
pub(crate) async fn drive<A: Ask>(
    store: &dyn Store,
    at: &Address,
    ask: &A,
    mut seen: Seen,
) -> Result<Driven<A::Answer>, StoreError> {
    for _ in 0..ROUNDS {
        let (expect, write, answer) = match decide(&seen, ask) {
            Verdict::Answer(answer) => {
                let version = seen.record.map(|record| record.version);
                return Ok(Driven { answer, version });
            }
            Verdict::Write { expect, write, answer } => (expect, write, answer),
        };
        match store.swap(&at.key, expect, encoded(at, write)).await {
            Ok(Swap::Won(stamp)) => return Ok(Driven { answer, version: Some(stamp.version) }),
            Ok(Swap::Lost(snapshot)) => seen = decoded(at, &snapshot)?,
            Err(error) if error.kind() == StoreErrorKind::Unknown => {
                // The lost reply is what happened; a read that fails too must not hide it.
                let Ok(seen_after) = look(store, at).await else { return Err(error) };
                seen = seen_after;
            }
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::not_applied(format!("others were faster {ROUNDS} times in a row")))
}

/// Reads and decodes what is under a key.
pub(crate) async fn look(store: &dyn Store, at: &Address) -> Result<Seen, StoreError> {
    let snapshot = store.read(&at.key, Touch::No).await?;
    decoded(at, &snapshot)
}

fn decoded(at: &Address, snapshot: &semel_core::Snapshot) -> Result<Seen, StoreError> {
    Seen::of(&at.digest, snapshot).map_err(|damaged| {
        StoreError::damaged(format!("the record of key {}", at.digest)).caused_by(damaged)
    })
}

fn encoded(at: &Address, write: Write) -> Next {
    match write {
        Write::Put { record, lease, keep } => {
            Next::Put { value: codec::encode(&at.digest, &record), lease, keep }
        }
        Write::Renew { lease, keep } => Next::Renew { lease, keep },
        Write::Delete => Next::Delete,
    }
}
