//! A read that renews the lease of what it reads.

use semel_core::{Expect, Key, Snapshot, StoreError, Ttl};

use super::call::Operation;
use super::halt::Halt;
use super::tx::Tx;

pub(crate) struct TouchEntry {
    pub(crate) key: Key,
    pub(crate) lease: Ttl,
}

impl Operation for TouchEntry {
    type Output = Snapshot;

    fn grows(&self) -> bool {
        false
    }

    fn run(&self, tx: &mut Tx<'_>) -> Result<Snapshot, Halt> {
        let now = tx.now();
        // Expecting absence brings the value of whatever is there.
        let found = tx.sql.find(&self.key, Expect::Absent, now)?;
        let Some(mut found) = found.filter(|found| found.stored.is_live(now)) else {
            return Ok(Snapshot::absent(now));
        };
        let stored = &mut found.stored;
        let renewed = now.after(self.lease).min(stored.keep);
        if now < stored.lease && stored.lease != renewed {
            stored.lease = renewed;
            tx.sql.touch(found.id, renewed)?;
            tx.mark_changed();
        }
        let value = found.value.ok_or_else(|| {
            Halt::Refused(StoreError::damaged("a row of table `entry` has no value"))
        })?;
        Ok(Snapshot { now, entry: Some(found.stored.seen_at(now, value)) })
    }

    /// A touch is no change that anybody waits for: the version stays.
    fn changed(&self, _: &Snapshot) -> Option<&Key> {
        None
    }
}
