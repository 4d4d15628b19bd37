//! What a call was called with, as digests by part.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A digest for each part of a request, so that a mismatch can say which part differs without
/// knowing its value.
///
/// The parts are hashed apart from each other, each with its name and length in front: no two
/// requests can be told alike by moving bytes from one part to the next.
#[derive(Clone, PartialEq, Eq)]
pub struct Fingerprint {
    parts: Arc<[Part]>,
}

#[derive(Clone, PartialEq, Eq)]
struct Part {
    name: PartName,
    digest: PartDigest,
}

/// The name of a part: `body`, `query`, or a selection such as `$.amount`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartName(Cow<'static, str>);

/// 128 bits of BLAKE3 over a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PartDigest([u8; 16]);

impl Fingerprint {
    /// A fingerprint without parts, to be filled.
    pub fn builder() -> FingerprintBuilder {
        FingerprintBuilder { parts: Vec::with_capacity(6) }
    }

    /// The names of the parts that both have and that differ. What only one has was taken under
    /// other settings and says nothing about the request.
    #[must_use]
    pub fn differs_from(&self, other: &Self) -> Vec<PartName> {
        let differs = |part: &&Part| {
            other.parts.iter().any(|o| o.name == part.name && o.digest != part.digest)
        };
        self.parts.iter().filter(differs).map(|part| part.name.clone()).collect()
    }

    /// Names and digests, in order.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&PartName, &PartDigest)> {
        self.parts.iter().map(|part| (&part.name, &part.digest))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| part.name.as_str())).finish()
    }
}

impl PartName {
    /// A part's name.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// ===== PartDigest =====

impl PartDigest {
    /// The digest of one run of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = PartHasher::new();
        hasher.update(bytes);
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

/// Hashes a part that comes in pieces. How it is cut into pieces makes no difference.
#[derive(Debug, Clone)]
pub struct PartHasher {
    hasher: blake3::Hasher,
    length: u64,
}

impl PartHasher {
    /// Nothing hashed yet.
    #[must_use]
    pub fn new() -> Self {
        Self { hasher: blake3::Hasher::new(), length: 0 }
    }

    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.length += piece.len() as u64;
    }

    /// Adds a run of bytes with its length behind it, for parts made of several fields.
    pub fn field(&mut self, field: &[u8]) {
        self.update(field);
        self.update(&(field.len() as u64).to_le_bytes());
    }

    /// The digest of all of it, its length included.
    #[must_use]
    pub fn finish(mut self) -> PartDigest {
        let length = self.length.to_le_bytes();
        self.hasher.update(&length);
        let mut short = [0; 16];
        short.copy_from_slice(&self.hasher.finalize().as_bytes()[..16]);
        PartDigest(short)
    }
}

impl Default for PartHasher {
    fn default() -> Self {
        Self::new()
    }
}

// ===== FingerprintBuilder =====

/// Gathers parts.
#[derive(Clone)]
#[must_use = "call build()"]
pub struct FingerprintBuilder {
    parts: Vec<Part>,
}

impl FingerprintBuilder {
    /// Adds a part by its bytes.
    pub fn part(self, name: impl Into<Cow<'static, str>>, bytes: &[u8]) -> Self {
        self.digest(name, PartDigest::of(bytes))
    }

    /// Adds a part by its digest.
    pub fn digest(mut self, name: impl Into<Cow<'static, str>>, digest: PartDigest) -> Self {
        self.parts.push(Part { name: PartName::new(name), digest });
        self
    }

    /// The fingerprint.
    #[must_use]
    pub fn build(self) -> Fingerprint {
        Fingerprint { parts: self.parts.into() }
    }
}

impl fmt::Debug for FingerprintBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| part.name.as_str())).finish()
    }
}
