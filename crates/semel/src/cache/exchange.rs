//! Writing or removing a value and learning what was there before.

use bytes::Bytes;
use semel_core::{Expect, Next, Snapshot, StoreError, StoreErrorKind, StoreResult, Swap, Touch};

use super::engine::Engine;
use super::entry::{Seen, contention, nothing_written};
use super::write::Written;
use crate::drive::Address;

/// How often it begins anew because what is there changed.
const ROUNDS: usize = 16;

/// What was there before.
#[derive(Debug)]
pub(super) enum Former {
    Absent,
    Value(Bytes),
    /// An entry that can't be read, which is gone now.
    Unreadable(StoreError),
}

impl Engine {
    /// Puts `written` in the place of what is there, or nothing.
    pub(super) async fn exchanged(
        &self,
        at: &Address,
        written: Option<&Written>,
    ) -> StoreResult<Former> {
        let there = self.store.read(&at.key, Touch::No).await;
        let mut there = there.map_err(nothing_written)?;
        for _ in 0..ROUNDS {
            let former = former(at, &there);
            let next = written.map_or(Next::Delete, |written| written.next(at));
            let expect = match there.entry {
                Some(entry) => Expect::Version(entry.version),
                None if written.is_none() => return Ok(former),
                None => Expect::Absent,
            };
            match self.store.swap(&at.key, expect, next).await {
                Ok(Swap::Won(_)) => return Ok(former),
                Ok(Swap::Lost(snapshot)) => there = snapshot,
                Err(error) if error.kind() == StoreErrorKind::Unknown => {
                    return if self.is_settled(at, written).await {
                        Ok(former)
                    } else {
                        Err(error)
                    };
                }
                Err(error) => return Err(error),
            }
        }
        Err(contention())
    }

    /// Whether what was to be is so, after a lost reply.
    async fn is_settled(&self, at: &Address, written: Option<&Written>) -> bool {
        match (self.look(at).await, written) {
            (Ok(None), None) => true,
            (Ok(Some(seen)), Some(written)) => written.is(&seen),
            _ => false,
        }
    }
}

fn former(at: &Address, there: &Snapshot) -> Former {
    match Seen::of(at, there) {
        Ok(Some(seen)) if seen.is_live() => Former::Value(seen.entry.value),
        Ok(_) => Former::Absent,
        Err(error) => Former::Unreadable(error),
    }
}
