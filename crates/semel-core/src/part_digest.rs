//! The digest of one part of a fingerprint.

use std::fmt;
use std::sync::LazyLock;

/// 128 bits of BLAKE3 over a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PartDigest([u8; 16]);

impl PartDigest {
    /// The digest of one run of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = PartHasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The digest of no bytes at all, and that of a part that has no fields: the same, and known
    /// before anything is hashed.
    #[must_use]
    pub fn empty() -> Self {
        static EMPTY: LazyLock<PartDigest> = LazyLock::new(|| PartHasher::new().finish());
        *EMPTY
    }

    fn cut(hash: blake3::Hash) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&hash.as_bytes()[..16]);
        Self(short)
    }

    pub(crate) fn joined(self, next: Self) -> Self {
        let mut hasher = PartHasher::new();
        hasher.field(&self.0);
        hasher.field(&next.0);
        hasher.finish()
    }

    /// A digest from its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for PartDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PartDigest(…)")
    }
}

// ===== PartHasher =====

/// So many bytes are kept and hashed in one go. Nearly all parts have fewer; and the hasher for
/// pieces is two kilobytes large, and takes longer to set up than such a part to hash.
const SHORT: usize = 504;
const LENGTH: usize = size_of::<u64>();

/// Hashes a part that comes in pieces. How it is cut into pieces makes no difference.
#[derive(Clone)]
pub struct PartHasher {
    short: [u8; SHORT + LENGTH],
    length: u64,
    /// Takes everything once there is too much for `short`.
    long: Option<Box<blake3::Hasher>>,
}

impl PartHasher {
    /// Nothing hashed yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { short: [0; SHORT + LENGTH], length: 0, long: None }
    }

    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        if self.long.is_none() && !self.keep(piece) {
            let mut long = blake3::Hasher::new();
            long.update(&self.short[..self.kept()]);
            self.long = Some(Box::new(long));
        }
        if let Some(long) = &mut self.long {
            long.update(piece);
        }
        self.length += piece.len() as u64;
    }

    /// Adds a run of bytes with its length behind it. A part that is made of several fields, and of
    /// nothing else, can be told apart from every other such part.
    pub fn field(&mut self, field: &[u8]) {
        self.update(field);
        self.update(&(field.len() as u64).to_le_bytes());
    }

    /// The digest of all of it, its length included.
    #[must_use]
    pub fn finish(mut self) -> PartDigest {
        let length = self.length.to_le_bytes();
        let Some(mut long) = self.long else {
            let kept = self.kept();
            self.short[kept..kept + LENGTH].copy_from_slice(&length);
            return PartDigest::cut(blake3::hash(&self.short[..kept + LENGTH]));
        };
        long.update(&length);
        PartDigest::cut(long.finalize())
    }

    /// Keeps a piece, if there is room for it.
    fn keep(&mut self, piece: &[u8]) -> bool {
        let kept = self.kept();
        let fits = piece.len() <= SHORT - kept;
        if fits {
            self.short[kept..kept + piece.len()].copy_from_slice(piece);
        }
        fits
    }

    /// How much stands in `short`, as long as that is all.
    fn kept(&self) -> usize {
        usize::try_from(self.length).map_or(SHORT, |length| length.min(SHORT))
    }
}

impl Default for PartHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for PartHasher {
    // Not what it keeps: parts are what clients sent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartHasher").field("length", &self.length).finish_non_exhaustive()
    }
}
