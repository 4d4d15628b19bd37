//! Looking at what is under a key.

use std::time::Duration;

use semel::core::protocol::{Inspect, Seen, SeenRecord, Status, Verdict, decide};
use semel::core::{Entry, Key, KeyDigest, Outcome, Snapshot, StoreError, StoreTime, Touch, codec};
use semel::{Form, Once};

use crate::commands::once::Run;
use crate::plan::ONCE_OPERATION;

/// What is under a key. A record that can't be read is told as such, never as none.
pub(super) async fn at(once: &Once, key: &Key) -> Result<Seen, StoreError> {
    let snapshot: Snapshot = once.store().read(key, Touch::No).await?;
    Seen::of(&key.digest(), &snapshot).map_err(|damaged| {
        StoreError::damaged(format!("the record of key {}", key.digest())).caused_by(damaged)
    })
}

/// What is under a listed key; none where it can't be read.
pub(super) fn listed(digest: &KeyDigest, now: StoreTime, entry: &Entry) -> Option<Looked> {
    let record = codec::decode(digest, &entry.value).ok()?;
    let (version, lease_left, keep_left) = (entry.version, entry.lease_left, entry.keep_left);
    Some(Looked { now, there: SeenRecord { version, lease_left, keep_left, record } })
}

/// A record, and the store's clock when it was looked at.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) now: StoreTime,
    pub(super) there: SeenRecord,
}

impl Looked {
    pub(super) fn of(seen: &Seen) -> Option<Self> {
        Some(Self { now: seen.now, there: seen.record.clone()? })
    }

    pub(super) fn status(&self) -> Status {
        let seen = Seen { now: self.now, record: Some(self.there.clone()) };
        match decide(&seen, &Inspect) {
            Verdict::Answer(status) => status,
            Verdict::Write { .. } => Status::Absent,
        }
    }

    pub(super) fn operation(&self) -> &str {
        self.there.record.claim.operation.as_str()
    }

    pub(super) fn owner(&self) -> Option<&str> {
        self.there.record.claim.owner.as_ref().map(semel::core::Owner::as_str)
    }

    /// How long ago it was last written.
    pub(super) fn age(&self) -> Duration {
        self.now.since(self.there.last_written())
    }

    /// When it is forgotten, if nothing happens.
    pub(super) fn forgotten_at(&self) -> StoreTime {
        self.now.after(self.there.keep_left)
    }

    /// The exit code of a command that ran once.
    pub(super) fn run(&self, outcome: &Outcome) -> Option<Run> {
        (self.operation() == ONCE_OPERATION && outcome.form == Form::Bytes)
            .then(|| Run::read(outcome))
            .flatten()
    }
}
