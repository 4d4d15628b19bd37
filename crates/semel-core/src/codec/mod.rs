//! The byte form of a record: one for every store.
//!
//! ```text
//! 0   1        17      21       25
//! +---+--------+-------+--------+----------------+-----------+
//! | 1 | key    | CRC32 | length | header (CBOR)  | payload   |
//! +---+--------+-------+--------+----------------+-----------+
//!  format  16 bytes     of header, little endian
//! ```
//!
//! The checksum covers everything but itself. The header's fields are numbered: a newer version
//! may add numbers, which this one passes over, and must not change the meaning of one that is
//! taken. What sort of thing it is, a call, a lock, a gate's last fence, a cached value or a count of
//! attempts, is number 0 of each. A change that an older reader could not live with takes a new format byte, and an
//! unknown format is damaged, never guessed at; so are an unknown state and an unknown sort of
//! record. An unknown form or reason is passed on as such: what it means for the work (it ended; it
//! must not run again) is known all the same. The payload stands outside the header so that a
//! replay can share the store's bytes instead of copying them.

mod attempts;
mod cache;
mod header;
mod last_fence;
mod lock;
mod pen;

use bytes::Bytes;

use crate::cache_entry::CacheEntry;
use crate::fence::Fence;
use crate::key::KeyDigest;
use crate::lock::LockEntry;
use crate::record::{Record, State};

const FORMAT: u8 = 1;
const CRC_AT: usize = 17;
const LENGTH_AT: usize = 21;
const HEADER_AT: usize = 25;
const USUAL_ROOM: usize = 192;

/// The bytes of a record that belongs to the key with this digest.
#[must_use]
pub fn encode(key: &KeyDigest, record: &Record) -> Bytes {
    let payload: &[u8] = match &record.state {
        State::Done(outcome) => &outcome.payload,
        State::Held | State::Doubt(_) => &[],
    };
    framed(key, header::room(&record.claim), payload, |out| header::write(record, out))
}

/// The bytes of a lock's entry that belongs to the key with this digest.
#[must_use]
pub fn encode_lock(key: &KeyDigest, entry: &LockEntry) -> Bytes {
    framed(key, USUAL_ROOM, &[], |out| lock::write(entry, out))
}

/// The record in these bytes, if they are whole and belong to the key with this digest.
///
/// # Errors
///
/// [`Damaged`], which says what did not fit. A damaged record is there; it is never "absent".
pub fn decode(key: &KeyDigest, bytes: &Bytes) -> Result<Record, Damaged> {
    let payload_at = payload_at(key, bytes)?;
    header::read(&bytes[HEADER_AT..payload_at])?.into_record(bytes.slice(payload_at..))
}

/// The lock's entry in these bytes, if they are whole and belong to the key with this digest.
///
/// # Errors
///
/// As [`decode`]; a record of a call is no entry of a lock.
pub fn decode_lock(key: &KeyDigest, bytes: &Bytes) -> Result<LockEntry, Damaged> {
    let payload_at = payload_at(key, bytes)?;
    if payload_at != bytes.len() {
        return Err(Damaged::Header);
    }
    lock::read(&bytes[HEADER_AT..])
}

/// The bytes of a gate's last fence that belongs to the key with this digest.
#[must_use]
pub fn encode_last_fence(key: &KeyDigest, fence: Fence) -> Bytes {
    framed(key, USUAL_ROOM, &[], |out| last_fence::write(fence, out))
}

/// The gate's last fence in these bytes, if they are whole and belong to the key with this digest.
///
/// # Errors
///
/// As [`decode`]; a record of another sort is none.
pub fn decode_last_fence(key: &KeyDigest, bytes: &Bytes) -> Result<Fence, Damaged> {
    let payload_at = payload_at(key, bytes)?;
    if payload_at != bytes.len() {
        return Err(Damaged::Header);
    }
    last_fence::read(&bytes[HEADER_AT..])
}

/// The bytes of a cached value that belongs to the key with this digest.
#[must_use]
pub fn encode_cache(key: &KeyDigest, entry: &CacheEntry) -> Bytes {
    framed(key, cache::ROOM, &entry.value, |out| cache::write(entry, out))
}

/// The cached value in these bytes, if they are whole and belong to the key with this digest.
///
/// # Errors
///
/// As [`decode`]; a record of another sort is none.
pub fn decode_cache(key: &KeyDigest, bytes: &Bytes) -> Result<CacheEntry, Damaged> {
    let payload_at = payload_at(key, bytes)?;
    cache::read(&bytes[HEADER_AT..payload_at], bytes.slice(payload_at..))
}

/// The bytes of a count of attempts that belongs to the key with this digest.
#[must_use]
pub fn encode_attempts(key: &KeyDigest, count: u32) -> Bytes {
    framed(key, USUAL_ROOM, &[], |out| attempts::write(count, out))
}

/// The count of attempts in these bytes, if they are whole and belong to the key with this digest.
///
/// # Errors
///
/// As [`decode`]; a record of another sort is none.
pub fn decode_attempts(key: &KeyDigest, bytes: &Bytes) -> Result<u32, Damaged> {
    let payload_at = payload_at(key, bytes)?;
    if payload_at != bytes.len() {
        return Err(Damaged::Header);
    }
    attempts::read(&bytes[HEADER_AT..])
}

/// A header for which there is `room` is written without a second allocation.
fn framed(key: &KeyDigest, room: usize, payload: &[u8], write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut out = Vec::with_capacity(HEADER_AT + room + payload.len());
    out.push(FORMAT);
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(&[0; 8]);
    write(&mut out);
    let length = u32::try_from(out.len() - HEADER_AT).unwrap_or(u32::MAX);
    out[LENGTH_AT..HEADER_AT].copy_from_slice(&length.to_le_bytes());
    out.extend_from_slice(payload);
    let crc = checksum(&out);
    out[CRC_AT..LENGTH_AT].copy_from_slice(&crc.to_le_bytes());
    Bytes::from(out)
}

/// Checks the frame, and where its header ends.
fn payload_at(key: &KeyDigest, bytes: &Bytes) -> Result<usize, Damaged> {
    let format = *bytes.first().ok_or(Damaged::TooShort)?;
    if format != FORMAT {
        return Err(Damaged::UnknownFormat { format });
    }
    if bytes.len() < HEADER_AT {
        return Err(Damaged::TooShort);
    }
    if checksum(bytes).to_le_bytes() != bytes[CRC_AT..LENGTH_AT] {
        return Err(Damaged::Checksum);
    }
    if key.as_bytes()[..] != bytes[1..CRC_AT] {
        return Err(Damaged::OtherKey);
    }
    let mut length = [0; 4];
    length.copy_from_slice(&bytes[LENGTH_AT..HEADER_AT]);
    HEADER_AT
        .checked_add(usize::try_from(u32::from_le_bytes(length)).map_err(|_| Damaged::Header)?)
        .filter(|at| *at <= bytes.len())
        .ok_or(Damaged::Header)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&bytes[..CRC_AT]);
    crc.update(&bytes[LENGTH_AT..]);
    crc.finalize()
}

/// Why bytes are no record of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damaged {
    /// Shorter than any record.
    #[error("the record is cut short")]
    TooShort,
    /// Written in a form that this version does not know.
    #[error("the record has format {format}; this version reads format 1")]
    UnknownFormat {
        /// The format byte.
        format: u8,
    },
    /// The checksum does not match.
    #[error("the record's checksum does not match")]
    Checksum,
    /// It is a whole record, of another key: a crossed reply, or bytes that were moved.
    #[error("the record belongs to another key")]
    OtherKey,
    /// The header can't be read.
    #[error("the record's header can't be read")]
    Header,
}
