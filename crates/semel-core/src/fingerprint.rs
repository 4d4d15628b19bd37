//! What a call was called with, as digests by part.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::part_digest::PartDigest;

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

impl Fingerprint {
    /// A fingerprint without parts, to be filled.
    pub fn builder() -> FingerprintBuilder {
        FingerprintBuilder { parts: Vec::with_capacity(6) }
    }

    /// A fingerprint of these parts; none where a name comes twice.
    pub(crate) fn from_parts(parts: impl Iterator<Item = (PartName, PartDigest)>) -> Option<Self> {
        let parts: Arc<[Part]> = parts.map(|(name, digest)| Part { name, digest }).collect();
        are_unique(&parts).then_some(Self { parts })
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

fn are_unique(parts: &[Part]) -> bool {
    const FEW: usize = 8;
    if parts.len() <= FEW {
        let has_twin = |(n, part): (usize, &Part)| parts[..n].iter().any(|p| p.name == part.name);
        return !parts.iter().enumerate().any(has_twin);
    }
    // Sorted, so that hostile bytes can't buy a quadratic number of comparisons.
    let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).all(|pair| pair[0] != pair[1])
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| part.name.as_str())).finish()
    }
}

/// The names that doors give to parts of requests: reading these from a record allocates nothing.
const USUAL: [&str; 6] = ["method", "path", "query", "content-type", "content-encoding", "body"];

impl PartName {
    /// The name that stands in a record.
    pub(crate) fn read(name: &str) -> Self {
        let usual = USUAL.into_iter().find(|usual| *usual == name);
        Self(usual.map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed))
    }

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
