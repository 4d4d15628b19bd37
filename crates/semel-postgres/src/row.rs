//! From rows to what the contract says.

use bytes::Bytes;
use semel_core::{
    Entry, Key, Page, Snapshot, Stamp, StoreError, StoreResult, StoreTime, Swap, Ttl, Version,
};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::failure::damaged;

/// The outcome of a swap: won, time, version, what is left of lease and keep, value.
pub(crate) fn swap(rows: &[Row]) -> StoreResult<Swap> {
    Swapped::of(only(rows)?)?.outcome()
}

/// The columns of a swap's outcome, whichever library has read them.
pub(crate) struct Swapped {
    pub(crate) won: bool,
    pub(crate) now: i64,
    pub(crate) there: There,
}

/// Those of an entry.
pub(crate) struct There {
    pub(crate) version: Option<i64>,
    pub(crate) lease_left: Option<i64>,
    pub(crate) keep_left: Option<i64>,
    pub(crate) value: Option<Bytes>,
}

impl Swapped {
    fn of(row: &Row) -> StoreResult<Self> {
        Ok(Self { won: get(row, 0)?, now: get(row, 1)?, there: There::at(row, 2)? })
    }

    pub(crate) fn outcome(self) -> StoreResult<Swap> {
        let now = time(self.now)?;
        Ok(if self.won {
            let number = self.there.version.ok_or_else(|| damaged("a version"))?;
            Swap::Won(Stamp { now, version: version(number)? })
        } else {
            Swap::Lost(Snapshot { now, entry: self.there.entry()? })
        })
    }
}

impl There {
    fn at(row: &Row, at: usize) -> StoreResult<Self> {
        let value: Option<&[u8]> = get(row, at + 3)?;
        Ok(Self {
            version: get(row, at)?,
            lease_left: get(row, at + 1)?,
            keep_left: get(row, at + 2)?,
            value: value.map(Bytes::copy_from_slice),
        })
    }

    fn entry(self) -> StoreResult<Option<Entry>> {
        let Some(number) = self.version else { return Ok(None) };
        Ok(Some(Entry {
            version: version(number)?,
            value: self.value.ok_or_else(|| damaged("a value"))?,
            lease_left: ttl(self.lease_left)?,
            keep_left: ttl(self.keep_left)?,
        }))
    }
}

/// The outcome of a swap in the caller's transaction.
#[derive(Debug)]
pub(crate) enum SwapIn {
    /// It came to this.
    Done(Swap),
    /// Another transaction held the row all the time.
    Busy,
}

/// As for [`swap`], and whether it was busy.
pub(crate) fn swap_in(rows: &[Row]) -> StoreResult<SwapIn> {
    if get(only(rows)?, 6)? { Ok(SwapIn::Busy) } else { swap(rows).map(SwapIn::Done) }
}

/// A key at one moment: time, version, what is left of lease and keep, value.
pub(crate) fn snapshot(rows: &[Row]) -> StoreResult<Snapshot> {
    snapshot_at(only(rows)?, 0)
}

/// A page: as a snapshot, with key and number of entries behind it. It asked for `limit`.
pub(crate) fn page(rows: &[Row], limit: usize) -> StoreResult<Page> {
    let first = rows.first().ok_or_else(|| damaged("an answer"))?;
    let now = time(get(first, 0)?)?;
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(entry) = entry_at(row, 1)? else { continue };
        let key: &str = get(row, 5)?;
        entries.push((Key::new(key).map_err(|error| damaged("a key").caused_by(error))?, entry));
    }
    let total = get::<Option<i64>>(first, 6)?.unwrap_or(0);
    let total = usize::try_from(total).map_err(|_| damaged("a count"))?;
    // More may follow when the page was cut short by its size, or filled to its limit.
    let more = total > entries.len() || (total == limit && total > 0);
    let next = entries.last().filter(|_| more).map(|(key, _)| key.clone());
    Ok(Page { now, entries, next })
}

/// How many went: with a value, and of deleted keys.
pub(crate) fn swept(rows: &[Row]) -> StoreResult<(usize, usize)> {
    let row = only(rows)?;
    let count = |at| usize::try_from(get::<i64>(row, at)?).map_err(|_| damaged("a count"));
    Ok((count(0)?, count(1)?))
}

/// The only field of the only row.
pub(crate) fn scalar<'r, T: FromSql<'r>>(rows: &'r [Row]) -> StoreResult<T> {
    get(only(rows)?, 0)
}

fn snapshot_at(row: &Row, at: usize) -> StoreResult<Snapshot> {
    Ok(Snapshot { now: time(get(row, at)?)?, entry: entry_at(row, at + 1)? })
}

fn entry_at(row: &Row, at: usize) -> StoreResult<Option<Entry>> {
    There::at(row, at)?.entry()
}

fn time(micros: i64) -> StoreResult<StoreTime> {
    u64::try_from(micros).map(StoreTime::from_micros).map_err(|_| damaged("a time"))
}

fn version(number: i64) -> StoreResult<Version> {
    u64::try_from(number).map(Version::new).map_err(|_| damaged("a version"))
}

/// Longer than was asked for only if the server's clock went back meanwhile.
fn ttl(micros: Option<i64>) -> StoreResult<Ttl> {
    let micros = micros.and_then(|micros| u64::try_from(micros).ok());
    let micros = micros.ok_or_else(|| damaged("an end"))?;
    Ok(Ttl::from_micros(micros).unwrap_or(Ttl::MAX))
}

fn only(rows: &[Row]) -> StoreResult<&Row> {
    match rows {
        [row] => Ok(row),
        _ => Err(StoreError::damaged(format!("{} rows came back instead of one", rows.len()))),
    }
}

pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> StoreResult<T> {
    row.try_get(at).map_err(|_| damaged(&format!("column {at} of an answer")))
}
