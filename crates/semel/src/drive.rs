//! Drives a decision through a store: swap, decide, swap.

use std::pin::Pin;
use std::time::Duration;

use futures_util::future::BoxFuture;
use semel_core::protocol::{Ask, Seen, Verdict, Write, decide};
use semel_core::{
    Key, KeyDigest, Next, Stamp, Store, StoreError, StoreErrorKind, StoreResult, StoreTime, Swap,
    Touch, Version, codec,
};

use crate::timer;

/// How often a decision is taken anew because somebody else was faster.
const ROUNDS: usize = 16;

/// How long anybody waits for the store. A store that does not answer is one that can't be reached.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

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
    /// The store's clock at that moment.
    pub(crate) now: StoreTime,
    pub(crate) by: By,
}

/// How an answer was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// A write that won: what is there is what was written.
    Write,
    /// A look at what is there.
    Look,
}

/// Puts `ask` to a key, starting from what is presumed or was just seen.
///
/// In the common case the presumption holds and this is one round trip. A lost swap brings what
/// is there, so the next decision costs no extra read. A write whose reply was lost is settled by
/// reading: the token in the record tells whether it was ours.
///
/// # Errors
///
/// The store's, unchanged. After [`ROUNDS`] lost rounds one for which [`is_contention`] holds:
/// `Unknown` if a reply was lost on the way, else `NotApplied`.
///
/// # Cancel safety
///
/// Dropped at an await, the last write may have been applied or not.
pub(crate) fn drive<'a, A: Ask>(
    store: &'a dyn Store,
    at: &'a Address,
    ask: &'a A,
    seen: Seen,
) -> impl Future<Output = Result<Driven<A::Answer>, StoreError>> + use<'a, A> {
    // Decided before there is a future, which would have to carry what was seen as long as it
    // lives; and a block rather than an `async fn`, which carries its arguments twice.
    let mut next = decided(store, at, ask, seen);
    async move {
        let mut lost_reply = false;
        for _ in 0..ROUNDS {
            let (swap, answer) = match next {
                Step::Answer(driven) => return Ok(driven),
                Step::Swap(swap, answer) => (swap, answer),
            };
            let seen = match swapped(at, swap.await, answer) {
                Swapped::Done(done) => return done,
                Swapped::Lost(seen) => seen,
                Swapped::Unknown(error) => {
                    lost_reply = true;
                    // The lost reply is what happened; a read that fails too must not hide it.
                    match Box::pin(look(store, at)).await {
                        Ok(seen) => seen,
                        Err(_) => return Err(error),
                    }
                }
            };
            next = decided(store, at, ask, seen);
        }
        if let Step::Answer(driven) = next {
            return Ok(driven);
        }
        // A write of which the reply was lost may still be under way, whatever was read since.
        let kind = if lost_reply { StoreErrorKind::Unknown } else { StoreErrorKind::NotApplied };
        Err(StoreError::of(kind, "the key could not be written").caused_by(Contention))
    }
}

/// What follows from what was seen. Not a part of `drive` itself: what is not needed while a store
/// works must not take room in the future of every call.
enum Step<'a, A> {
    Answer(Driven<A>),
    Swap(BoxFuture<'a, StoreResult<Swap>>, A),
}

fn decided<'a, A: Ask>(
    store: &'a dyn Store,
    at: &'a Address,
    ask: &A,
    seen: Seen,
) -> Step<'a, A::Answer> {
    match decide(&seen, ask) {
        Verdict::Answer(answer) => {
            let version = seen.record.map(|record| record.version);
            Step::Answer(Driven { answer, version, now: seen.now, by: By::Look })
        }
        Verdict::Write { expect, write, answer } => {
            Step::Swap(store.swap(&at.key, expect, encoded(at, write)), answer)
        }
    }
}

enum Swapped<A> {
    Done(Result<Driven<A>, StoreError>),
    Lost(Seen),
    Unknown(StoreError),
}

fn swapped<A>(at: &Address, swap: StoreResult<Swap>, answer: A) -> Swapped<A> {
    match swap {
        Ok(Swap::Won(Stamp { version, now })) => {
            Swapped::Done(Ok(Driven { answer, version: Some(version), now, by: By::Write }))
        }
        Ok(Swap::Lost(snapshot)) => match decoded(at, &snapshot) {
            Ok(seen) => Swapped::Lost(seen),
            Err(damaged) => Swapped::Done(Err(damaged)),
        },
        Err(error) if error.kind() == StoreErrorKind::Unknown => Swapped::Unknown(error),
        Err(error) => Swapped::Done(Err(error)),
    }
}

/// Why a decision could not be carried out although the store can be reached.
#[derive(Debug, thiserror::Error)]
#[error("it changed {ROUNDS} times in a row between a look and a write")]
struct Contention;

/// Whether the store answered, and others were faster again and again.
pub(crate) fn is_contention(error: &StoreError) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<Contention>())
}

/// Waits for the store as long as [`PATIENCE`] lasts, then takes its answer for lost.
///
/// The call is pinned by its caller: it is large, and would be copied on its way through here.
pub(crate) async fn in_time<T>(
    call: Pin<&mut impl Future<Output = Result<T, StoreError>>>,
) -> Result<T, StoreError> {
    timer::within(PATIENCE, call)
        .await
        .unwrap_or_else(|| Err(StoreError::unknown("the store gave no answer in time")))
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
