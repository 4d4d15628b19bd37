//! The keys that seal, and their names.

use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretBox};

/// The name of a sealing key, written into every value that it sealed.
///
/// A name stands for one key for ever: a second key under a used name makes the first one's
/// values unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SealKeyId(u8);

impl SealKeyId {
    /// A name from its number.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for SealKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// ===== SealKey =====

/// A sealing key: 256 random bits, and its name. `Debug` shows the name only; the bits are wiped
/// when it is dropped.
pub struct SealKey {
    id: SealKeyId,
    secret: SecretBox<[u8; 32]>,
}

impl SealKey {
    /// A key from its bits. They must come from a random source, not from a pass phrase.
    #[must_use]
    pub const fn new(id: SealKeyId, secret: SecretBox<[u8; 32]>) -> Self {
        Self { id, secret }
    }

    /// Its name.
    #[must_use]
    pub const fn id(&self) -> SealKeyId {
        self.id
    }

    pub(super) fn secret(&self) -> &[u8; 32] {
        self.secret.expose_secret()
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({})", self.id)
    }
}

// ===== SealKeys =====

/// The keys a store is sealed with: one that seals, and older ones that still open. A clone
/// shares them.
#[derive(Debug, Clone)]
pub struct SealKeys(Arc<Ring>);

#[derive(Debug)]
struct Ring {
    current: SealKey,
    older: Vec<SealKey>,
}

impl SealKeys {
    /// Seals under `current`, and opens under it and all of `older`.
    ///
    /// # Errors
    ///
    /// [`SealKeysError`] when two of them have one name.
    pub fn new(
        current: SealKey,
        older: impl IntoIterator<Item = SealKey>,
    ) -> Result<Self, SealKeysError> {
        let mut ring = Ring { current, older: Vec::new() };
        for key in older {
            if ring.find(key.id).is_some() {
                return Err(SealKeysError { id: key.id });
            }
            ring.older.push(key);
        }
        Ok(Self(Arc::new(ring)))
    }

    pub(super) fn current(&self) -> &SealKey {
        &self.0.current
    }

    pub(super) fn find(&self, id: SealKeyId) -> Option<&SealKey> {
        self.0.find(id)
    }
}

impl Ring {
    fn find(&self, id: SealKeyId) -> Option<&SealKey> {
        std::iter::once(&self.current).chain(&self.older).find(|key| key.id == id)
    }
}

/// Two sealing keys under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("two sealing keys are named {id}; each needs a name of its own")]
pub struct SealKeysError {
    id: SealKeyId,
}
