//! The threads that read: committed data only, each on a connection of its own.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use rusqlite::{Connection, Result, Statement, params};
use semel_core::{Key, Page, Snapshot, StoreError, StoreResult, StoreTime};

use crate::clock::Timepiece;
use crate::failure::Failure;
use crate::queue::Taken;
use crate::read_call::{Range, ReadCall};
use crate::row::{self, Stored};
use crate::shared::{Shared, mark_own_thread};

/// A page of a listing ends early once it holds this much.
const PAGE_BYTES: usize = 8 << 20;

/// Starts a thread that reads until the queue is closed and empty.
pub(crate) fn spawn(db: Connection, shared: Arc<Shared>) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("semel-sqlite-read".to_owned()).spawn(move || {
        mark_own_thread();
        let guard = Guard(&shared);
        match Reader::new(&db, &shared.time) {
            Ok(mut reader) => reader.run(&shared),
            Err(error) => shared.poison(Failure::unchanged(error)),
        }
        drop(guard);
    })
}

/// Whatever ends a reader, no call is left without an answer: what waits is dropped, and told so.
struct Guard<'a>(&'a Shared);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() || self.0.unusable().is_some() {
            self.0.reads.abandon();
        }
    }
}

struct Reader<'c> {
    read: Statement<'c>,
    scan: Statement<'c>,
    time: &'c Timepiece,
}

impl<'c> Reader<'c> {
    fn new(db: &'c Connection, time: &'c Timepiece) -> Result<Self> {
        Ok(Self {
            read: db.prepare(
                "SELECT m.last_time, e.version, e.lease_at, e.keep_at, e.value
                 FROM meta AS m LEFT JOIN entry AS e ON e.key = ?1 WHERE m.id = 1",
            )?,
            scan: db.prepare(
                "SELECT key, version, lease_at, keep_at, value FROM entry
                 WHERE key >= ?1 AND key < ?2 AND keep_at > ?3 ORDER BY key LIMIT ?4",
            )?,
            time,
        })
    }

    fn run(&mut self, shared: &Shared) {
        let mut batch = Vec::with_capacity(1);
        while shared.reads.take(1, &mut batch, || None) != Taken::Closed {
            for call in batch.drain(..) {
                match shared.unusable() {
                    None => self.answer(call),
                    Some(why) => call.refuse(why),
                }
            }
        }
    }

    fn answer(&mut self, call: ReadCall) {
        match call {
            // Nobody waits for it any more.
            ReadCall::Read { reply, .. } if reply.is_closed() => {}
            ReadCall::Scan { reply, .. } if reply.is_closed() => {}
            ReadCall::Read { key, reply } => {
                let _ = reply.send(told(self.read(&key)));
            }
            ReadCall::Scan { range, limit, reply } => {
                let _ = reply.send(told(self.scan(&range, limit)).and_then(|page| page));
            }
        }
    }

    /// One entry, in a read transaction of its own: it sees all that was committed before.
    ///
    /// The clock is asked *before*. So there is a moment, at or after the clock's, at which what
    /// is told was true: a row that is seen as past its end was past it then already, and nobody
    /// had written it anew. Asked after, a renewal in between would be overlooked, and a live
    /// entry called absent.
    fn read(&mut self, key: &Key) -> Result<Snapshot> {
        let before = self.time.now();
        self.read.query_row([key.as_str()], |row| {
            let now = before.max(self.time.no_earlier_than(row::time(row, 0)?));
            let Some(value) = row::value(row, 4)? else { return Ok(Snapshot::absent(now)) };
            let stored = Stored::read(row, 1)?;
            let entry = stored.is_live(now).then(|| stored.seen_at(now, value));
            Ok(Snapshot { now, entry })
        })
    }

    fn scan(&mut self, range: &Range, limit: usize) -> Result<StoreResult<Page>> {
        let now = self.time.now();
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let from = &range.from;
        let ends = row::from_time(now);
        let mut rows = match &range.to {
            Some(to) => self.scan.query(params![from, to, ends, most])?,
            // A blob is beyond every text.
            None => self.scan.query(params![from, [0_u8; 0].as_slice(), ends, most])?,
        };
        let (mut entries, mut bytes, mut cut) = (Vec::new(), 0, false);
        while let Some(row) = rows.next()? {
            let Ok(key) = Key::new(row.get::<_, String>(0)?) else { return Ok(Err(bad_key())) };
            let value = row::value(row, 4)?.unwrap_or_else(Bytes::new);
            bytes += value.len();
            entries.push((key, Stored::read(row, 1)?.seen_at(now, value)));
            cut = bytes >= PAGE_BYTES;
            if cut {
                break;
            }
        }
        Ok(Ok(page(now, entries, cut, limit)))
    }
}

fn page(now: StoreTime, entries: Vec<(Key, semel_core::Entry)>, cut: bool, limit: usize) -> Page {
    let more = cut || entries.len() == limit;
    let next = entries.last().filter(|_| more).map(|(key, _)| key.clone());
    Page { now, entries, next }
}

fn told<T>(result: Result<T>) -> StoreResult<T> {
    result.map_err(|error| Failure::unchanged(error).error())
}

fn bad_key() -> StoreError {
    StoreError::damaged("a row of table `entry` has a key that breaks the grammar of keys")
}
