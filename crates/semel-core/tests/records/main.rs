//! The byte form of records: what must come back, and what must never be taken for a record.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod arbitrary;
mod fingerprints;
mod forward;
mod hostile;
mod locks;
mod raw;
mod round_trip;
