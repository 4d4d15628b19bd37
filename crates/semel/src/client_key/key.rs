//! A key that has passed its rule.

use std::fmt;
use std::sync::Arc;

use super::born::UnixMillis;
use super::ids;

/// The key a client gave to its call, checked by a [`KeyRule`](crate::KeyRule).
///
/// The only way to one is [`KeyRule::check`](crate::KeyRule::check). Equality is exact: neither
/// letter case nor spelling is folded, so a UUID in capitals is another key than the same UUID in
/// small letters. Cloning is cheap (one reference count).
///
/// There is no `Display`, and `Debug` prints a short digest: a key finds its way into a log only
/// by [`ClientKey::as_str`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientKey(Arc<str>);

impl ClientKey {
    /// Wraps a text that a rule has just accepted.
    pub(super) fn accepted(text: &str) -> Self {
        Self(text.into())
    }

    /// The text, as the client sent it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When the key was made, if it is a UUIDv7 (RFC 9562, section 5.7) or a ULID: both carry the
    /// Unix time of their making. None for every other key.
    ///
    /// The time is the client's word. It serves to recognise a retry that comes after its record
    /// is gone (`detect_expired`), and nothing else.
    #[must_use]
    pub fn born(&self) -> Option<UnixMillis> {
        ids::born(&self.0)
    }
}

impl fmt::Debug for ClientKey {
    /// The first 8 hex digits of the key's BLAKE3 digest: enough to follow a key through a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey(")?;
        blake3::hash(self.0.as_bytes()).as_bytes()[..4]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}
