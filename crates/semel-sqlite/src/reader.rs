//! The threads that read: committed data only, each on a connection of its own.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use rusqlite::{Connection, Result, Statement, params};
use semel_core::{Key, Page, Snapshot, StoreError, StoreResult, StoreTime};

use crate::clock::Timepiece;
use crate::failure::Failure;
use crate::queue::Taken;
use crate::row::{self, Stored};
use crate::shared::{Reply, Shared, mark_own_thread};

/// A page of a listing ends early once it holds this much.
const PAGE_BYTES: usize = 8 << 20;

/// A call that changes nothing.
pub(crate) enum ReadCall {
    Read { key: Key, reply: Reply<Snapshot> },
    Scan { range: Range, limit: usize, reply: Reply<Page> },
}

/// Keys from `from` on, up to but without `to`; to the end when there is no `to`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Range {
    from: String,
    to: Option<String>,
}

impl Range {
    /// The keys that begin with `prefix` and come after `after`.
    ///
    /// The order is that of the UTF-8 bytes, which is that of the characters. The first text
    /// beyond all that begin with a prefix is the prefix with its last character made one higher.
    pub(crate) fn new(prefix: &str, after: Option<&Key>) -> Self {
        // The first text after a key is the key with the lowest character behind it.
        let after = after.map(|key| format!("{key}\0")).unwrap_or_default();
        Self { from: after.max(prefix.to_owned()), to: beyond(prefix) }
    }
}

fn beyond(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // The step over the surrogates is the range's; the last character of all has no next.
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

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

impl ReadCall {
    fn refuse(self, why: &Failure) {
        match self {
            Self::Read { reply, .. } => drop(reply.send(Err(why.error()))),
            Self::Scan { reply, .. } => drop(reply.send(Err(why.error()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_where_the_prefix_does() {
        let range = |prefix| Range::new(prefix, None);
        assert_eq!(range("ab").to.as_deref(), Some("ac"));
        assert_eq!(range("a\u{10FFFF}").to.as_deref(), Some("b"));
        assert_eq!(range("\u{10FFFF}").to, None);
        assert_eq!(range("").to, None);
        // The next character after the last before the surrogates is the first behind them.
        assert_eq!(range("\u{D7FF}").to.as_deref(), Some("\u{E000}"));
        // One byte to two, two to three, three to four.
        assert_eq!(range("\u{7F}").to.as_deref(), Some("\u{80}"));
        assert_eq!(range("\u{7FF}").to.as_deref(), Some("\u{800}"));
        assert_eq!(range("\u{FFFF}").to.as_deref(), Some("\u{10000}"));
    }

    #[test]
    fn a_range_goes_on_right_after_the_cursor() {
        let key = Key::new("ab").unwrap();
        assert_eq!(Range::new("a", Some(&key)).from, "ab\0");
        // A cursor before the prefix does not widen it.
        assert_eq!(Range::new("b", Some(&key)).from, "b");
    }
}
