//! Between the numbers of the contract and those of SQLite, which have a sign.

use bytes::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Error, Result, Row};
use semel_core::{Entry, StoreTime, Version};

/// A moment as SQLite keeps it. Beyond its range, in the year 294,247, it is the end of time.
pub(crate) fn from_time(time: StoreTime) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// The moment in a column.
///
/// # Errors
///
/// `IntegralValueOutOfRange` for a negative number, which no store writes: the row is damaged.
pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<StoreTime> {
    number(row, column).map(StoreTime::from_micros)
}

/// The version in a column; errors as [`time`].
pub(crate) fn version(row: &Row<'_>, column: usize) -> Result<Version> {
    number(row, column).map(Version::new)
}

fn number(row: &Row<'_>, column: usize) -> Result<u64> {
    let signed: i64 = row.get(column)?;
    u64::try_from(signed).map_err(|_| Error::IntegralValueOutOfRange(column, signed))
}

/// The value in a column; none for NULL, which statements give where no value is needed.
pub(crate) fn value(row: &Row<'_>, column: usize) -> Result<Option<Bytes>> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(Some(Bytes::copy_from_slice(bytes))),
        ValueRef::Null => Ok(None),
        other => Err(Error::InvalidColumnType(column, "value".to_owned(), other.data_type())),
    }
}

/// An entry as read, before a clock has judged it.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) version: Version,
    pub(crate) lease: StoreTime,
    pub(crate) keep: StoreTime,
}

impl Stored {
    /// From the three columns `version`, `lease_at`, `keep_at`, of which `first` is the first.
    pub(crate) fn read(row: &Row<'_>, first: usize) -> Result<Self> {
        Ok(Self {
            version: version(row, first)?,
            lease: time(row, first + 1)?,
            keep: time(row, first + 2)?,
        })
    }

    pub(crate) fn is_live(&self, now: StoreTime) -> bool {
        now < self.keep
    }

    pub(crate) fn seen_at(&self, now: StoreTime, value: Bytes) -> Entry {
        Entry {
            version: self.version,
            value,
            lease_left: now.until(self.lease),
            keep_left: now.until(self.keep),
        }
    }
}
