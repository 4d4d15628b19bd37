//! What a call was called with, as digests by part.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A digest for each part of a request, so that a mismatch can say which part differs without
/// knowing its value.
///
/// The parts are hashed apart from each other, each with its length: no two requests can be made
/// alike by moving bytes from one part to the next. A part that a request lacks is to be added
/// all the same, as empty or by a digest that no content has; a part that is left out is not
/// compared.
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

    /// A fingerprint of these parts; none where a name comes twice.
    pub(crate) fn from_parts(parts: impl Iterator<Item = (PartName, PartDigest)>) -> Option<Self> {
        let parts: Arc<[Part]> = parts.map(|(name, digest)| Part { name, digest }).collect();
        // Sorted, so that hostile bytes can't buy a quadratic number of comparisons.
        let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        names.sort_unstable();
        let unique = names.windows(2).all(|pair| pair[0] != pair[1]);
        unique.then_some(Self { parts })
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

/// The longest part that is hashed in one go, in bytes.
const SHORT: usize = 504;
/// The bytes of its length behind it.
const LENGTH: usize = 8;

impl PartDigest {
    /// The digest of one run of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        // What is short, as nearly all parts are, is hashed in one go: the hasher for pieces is
        // two kilobytes large, and takes longer to set up than such a part to hash.
        if bytes.len() <= SHORT {
            let mut whole = [0; SHORT + LENGTH];
            let (part, rest) = whole.split_at_mut(bytes.len());
            part.copy_from_slice(bytes);
            rest[..LENGTH].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            return Self::cut(blake3::hash(&whole[..bytes.len() + LENGTH]));
        }
        let mut hasher = PartHasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    fn cut(hash: blake3::Hash) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&hash.as_bytes()[..16]);
        Self(short)
    }

    fn joined(self, next: Self) -> Self {
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
        self.hasher.update(&length);
        PartDigest::cut(self.hasher.finalize())
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
    ///
    /// A name stands for one part: what is added under a name that is there already is joined to
    /// it, in the order in which it comes.
    pub fn digest(mut self, name: impl Into<Cow<'static, str>>, digest: PartDigest) -> Self {
        let name = PartName::new(name);
        match self.parts.iter_mut().find(|part| part.name == name) {
            Some(part) => part.digest = part.digest.joined(digest),
            None => self.parts.push(Part { name, digest }),
        }
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
