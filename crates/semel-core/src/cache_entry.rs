//! What an entry of a cache says.

use std::fmt;

use bytes::Bytes;

use crate::record::Token;
use crate::time::Ttl;

/// A cached value, and how reading it keeps it alive.
#[derive(Clone, PartialEq, Eq)]
pub struct CacheEntry {
    /// Fresh for each write: by it a writer whose reply was lost knows its own.
    pub token: Token,
    /// What a read renews.
    pub renewal: Renewal,
    /// The value.
    pub value: Bytes,
}

/// What a read of a cached value renews.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Renewal {
    /// Nothing: it ends when it ends.
    Never,
    /// Its lease, for this long, under the keep that it was written with.
    Lease(Ttl),
    /// Its lease and its keep, for this long: it lives as long as it is read.
    Keep(Ttl),
}

impl fmt::Debug for CacheEntry {
    /// Never prints the value: it may hold somebody's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheEntry")
            .field("renewal", &self.renewal)
            .field("bytes", &self.value.len())
            .finish_non_exhaustive()
    }
}
