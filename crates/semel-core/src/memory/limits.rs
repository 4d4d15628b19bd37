//! How much a memory store holds.

/// The bounds of a memory store.
///
/// A store that is full refuses new entries; it never evicts one that has not expired, because a
/// forgotten claim is a second execution. An eighth of `total_bytes` is kept back for entries that
/// are there already, so that a call that was let in can also be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Bytes of keys and values, with 128 bytes of overhead an entry. Default 256 MiB.
    pub total_bytes: usize,
    /// The largest value. Default 4 MiB.
    pub value_bytes: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self { total_bytes: 256 << 20, value_bytes: 4 << 20 }
    }
}

impl MemoryLimits {
    /// What an entry costs beside its key and value.
    pub(super) const OVERHEAD: usize = 128;

    /// How full the store may get by entries that were not there before.
    pub(super) const fn for_new(&self) -> usize {
        self.total_bytes - self.total_bytes / 8
    }
}
