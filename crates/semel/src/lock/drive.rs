//! Drives a decision over a lock through a store: swap, decide, swap.

use std::time::Duration;

use rand::RngExt;
use semel_core::lock::LockEntry;
use semel_core::protocol::lock::{LockAsk, LockSeen};
use semel_core::protocol::{Verdict, Write};
use semel_core::{
    Next, Snapshot, Stamp, Store, StoreError, StoreErrorKind, Swap, Touch, Version, codec,
};

use crate::drive::Address;
use crate::timer::{self, Moment};

/// How often a decision is taken anew because somebody else was faster.
const ROUNDS: u32 = 64;

/// From which round on one waits a moment, so that those who write the same entry don't all write
/// at once.
const CROWDED: u32 = 4;

/// Where to begin.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// With a look.
    Look,
    /// With what is presumed to be there.
    Presumed(LockSeen),
    /// With what was seen there, and when that was asked for.
    Seen(LockSeen, Moment),
}

/// An answer, and where it stands.
#[derive(Debug)]
pub(super) struct Driven<A> {
    pub(super) answer: A,
    /// The version that the answer rests on; none for a lock without an entry.
    pub(super) version: Option<Version>,
    /// When what it rests on was asked for: durations in the answer count from here.
    pub(super) asked: Moment,
    /// What was seen, if nothing was written.
    pub(super) seen: Option<LockSeen>,
    /// What is there now, if this wrote it.
    pub(super) written: Option<LockEntry>,
    /// Whether the reply to a write was lost on the way: what it did may be a part of what was
    /// seen.
    pub(super) lost_reply: bool,
}

/// Puts `ask` to a lock.
///
/// # Errors
///
/// The store's. When others were faster again and again: `Unknown` if a reply was lost on the way,
/// else `NotApplied`.
///
/// # Cancel safety
///
/// Dropped at an await, the last write may have been applied or not.
pub(super) async fn drive<A: LockAsk>(
    store: &dyn Store,
    at: &Address,
    ask: &A,
    start: Start,
) -> Result<Driven<A::Answer>, StoreError> {
    let mut lost_reply = false;
    let (mut seen, mut asked) = match start {
        Start::Look => look(store, at).await?,
        Start::Presumed(seen) => (seen, Moment::now()),
        Start::Seen(seen, asked) => (seen, asked),
    };
    for round in 0..ROUNDS {
        let (expect, write, answer) = match ask.decide(&seen) {
            Verdict::Write { expect, write, answer } => (expect, write, answer),
            Verdict::Answer(answer) => {
                let version = seen.entry.as_ref().map(|there| there.version);
                let seen = Some(seen);
                return Ok(Driven { answer, version, asked, seen, written: None, lost_reply });
            }
        };
        let sent = Moment::now();
        let next = encoded(at, &write);
        match store.swap(&at.key, expect, next).await {
            Ok(Swap::Won(Stamp { version, .. })) => {
                let written = written(write, seen);
                let version = Some(version);
                return Ok(Driven { answer, version, asked, seen: None, written, lost_reply });
            }
            Ok(Swap::Lost(there)) => (seen, asked) = (decoded(at, &there)?, sent),
            Err(error) if error.kind() == StoreErrorKind::Unknown => {
                lost_reply = true;
                // The lost reply is what happened; a look that fails too must not hide it.
                (seen, asked) = look(store, at).await.map_err(|_| error)?;
            }
            // Nothing was changed by this try; but by one before it, perhaps.
            Err(error) if lost_reply => return Err(unknown(error)),
            Err(error) => return Err(error),
        }
        if round >= CROWDED {
            step_aside(round).await;
        }
    }
    let kind = if lost_reply { StoreErrorKind::Unknown } else { StoreErrorKind::NotApplied };
    Err(StoreError::of(kind, format!("the lock changed {ROUNDS} times between a look and a write")))
}

/// Reads a lock, and says when that was asked for.
pub(super) async fn look(
    store: &dyn Store,
    at: &Address,
) -> Result<(LockSeen, Moment), StoreError> {
    let asked = Moment::now();
    let snapshot = store.read(&at.key, Touch::No).await?;
    Ok((decoded(at, &snapshot)?, asked))
}

pub(super) fn decoded(at: &Address, snapshot: &Snapshot) -> Result<LockSeen, StoreError> {
    LockSeen::of(&at.digest, snapshot).map_err(|damaged| {
        StoreError::damaged(format!("the entry of lock {}", at.digest)).caused_by(damaged)
    })
}

fn encoded(at: &Address, write: &Write<LockEntry>) -> Next {
    match write {
        Write::Put { record, lease, keep } => {
            let value = codec::encode_lock(&at.digest, record);
            Next::Put { value, lease: *lease, keep: *keep }
        }
        Write::Renew { lease, keep } => Next::Renew { lease: *lease, keep: *keep },
        Write::Delete => Next::Delete,
    }
}

/// What a write that won has left there.
fn written(write: Write<LockEntry>, seen: LockSeen) -> Option<LockEntry> {
    match write {
        Write::Put { record, .. } => Some(record),
        Write::Renew { .. } => seen.entry.map(|there| there.entry),
        Write::Delete => None,
    }
}

fn unknown(error: StoreError) -> StoreError {
    StoreError::unknown("the reply to a write was lost").caused_by(error)
}

async fn step_aside(round: u32) {
    let most = 1_u64 << (round - CROWDED).min(5);
    // Out of the way of the await: the generator belongs to its thread.
    let millis = rand::rng().random_range(0..=most);
    timer::sleep(Duration::from_millis(millis)).await;
}
