//! A compare-and-swap: one look-up, at most one change.

use bytes::Bytes;
use semel_core::{Expect, Key, Next, Snapshot, Stamp, StoreError, StoreTime, Swap, Ttl};

use super::call::Operation;
use super::halt::Halt;
use super::sql::{Found, Stamps};
use super::tx::Tx;
use crate::row;

pub(crate) struct SwapEntry {
    pub(crate) key: Key,
    pub(crate) expect: Expect,
    pub(crate) next: Next,
}

impl Operation for SwapEntry {
    type Output = Swap;

    fn grows(&self) -> bool {
        matches!(self.next, Next::Put { .. })
    }

    fn run(&self, tx: &mut Tx<'_>) -> Result<Swap, Halt> {
        let now = tx.now();
        let found = tx.sql.find(&self.key, self.expect, now)?;
        let id = found.as_ref().map(|found| found.id);
        let live = found.filter(|found| found.stored.is_live(now));
        if !self.matches(live.as_ref()) {
            return lost(now, live);
        }
        match (&self.next, live) {
            (Next::Put { value, lease, keep }, _) => self.put(tx, now, id, value, (*lease, *keep)),
            (_, None) => lost(now, None),
            (Next::Renew { lease, keep }, Some(live)) => {
                let (won, stamps) = stamps(tx, now, (*lease, *keep))?;
                tx.sql.renew(live.id, stamps)?;
                tx.mark_changed();
                Ok(won)
            }
            (Next::Delete, Some(live)) => {
                let (version, _) = tx.next_version(now)?;
                tx.sql.delete(live.id)?;
                tx.mark_changed();
                Ok(Swap::Won(Stamp { version, now }))
            }
        }
    }

    fn changed(&self, swap: &Swap) -> Option<&Key> {
        matches!(swap, Swap::Won(_)).then_some(&self.key)
    }
}

impl SwapEntry {
    fn matches(&self, live: Option<&Found>) -> bool {
        match (self.expect, live) {
            (Expect::Any, _) | (Expect::Absent, None) => true,
            (Expect::Version(version), Some(found)) => found.stored.version == version,
            (Expect::Absent, Some(_)) | (Expect::Version(_), None) => false,
        }
    }

    fn put(
        &self,
        tx: &mut Tx<'_>,
        now: StoreTime,
        id: Option<i64>,
        value: &Bytes,
        ttls: (Ttl, Ttl),
    ) -> Result<Swap, Halt> {
        // What has ended under this key gives its room to what follows it.
        if id.is_none() {
            tx.make_room(self.key.as_str().len() + value.len())?;
        }
        let (won, stamps) = stamps(tx, now, ttls)?;
        match id {
            Some(id) => tx.sql.replace(id, stamps, value)?,
            None => tx.sql.insert(&self.key, stamps, value)?,
        }
        tx.mark_put();
        Ok(won)
    }
}

fn stamps(
    tx: &mut Tx<'_>,
    now: StoreTime,
    (lease, keep): (Ttl, Ttl),
) -> Result<(Swap, Stamps), Halt> {
    let (version, number) = tx.next_version(now)?;
    // Nothing outlasts its keep.
    let keep = now.after(keep);
    let (lease, keep) = (row::from_time(now.after(lease).min(keep)), row::from_time(keep));
    Ok((Swap::Won(Stamp { version, now }), Stamps { version: number, lease, keep }))
}

fn lost(now: StoreTime, live: Option<Found>) -> Result<Swap, Halt> {
    let Some(found) = live else { return Ok(Swap::Lost(Snapshot::absent(now))) };
    let value = found
        .value
        .ok_or_else(|| Halt::Refused(StoreError::damaged("a row of table `entry` has no value")))?;
    Ok(Swap::Lost(Snapshot { now, entry: Some(found.stored.seen_at(now, value)) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_put_asks_for_room() {
        let swap = |next| SwapEntry { key: Key::new("a").unwrap(), expect: Expect::Any, next };
        let (lease, keep) = (Ttl::MAX, Ttl::MAX);
        assert!(swap(Next::Put { value: Bytes::new(), lease, keep }).grows());
        assert!(!swap(Next::Renew { lease, keep }).grows());
        assert!(!swap(Next::Delete).grows());
    }
}
