//! Store keys: what an entry is called, on every store.

use std::fmt;
use std::sync::Arc;

use crate::scope::Scope;
use crate::segment::push_segment;

/// The name of an entry: 1 to 512 characters, no white space, no control characters.
///
/// A key is checked once, here, and every store method takes a `Key`: there is no way past the
/// grammar. Nothing is trimmed or cut. Cloning is cheap (one reference count).
///
/// `Debug` and `Display` differ on purpose: `Debug`, which finds its way into logs, prints a
/// short digest; [`Key::as_str`] and `Display` give the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The longest key, in Unicode scalar values.
    pub const MAX_CHARS: usize = 512;

    /// Checks `text` and makes it a key.
    ///
    /// # Errors
    ///
    /// [`KeyError`] when the text is empty, longer than [`Key::MAX_CHARS`] characters, or holds
    /// white space or control characters.
    pub fn new(text: impl AsRef<str> + Into<Arc<str>>) -> Result<Self, KeyError> {
        check(text.as_ref())?;
        Ok(Self(text.into()))
    }

    /// The key of an idempotent call: `idem:<tenant>:<subject>:<client key>`.
    ///
    /// The segments are encoded so that two different triples never share a key.
    ///
    /// # Errors
    ///
    /// [`KeyError`] when `client_key` is empty or the composed key is too long.
    pub fn idempotency(scope: &Scope, client_key: &str) -> Result<Self, KeyError> {
        Self::composed("idem", scope, &[client_key])
    }

    /// The key of an idempotent call that is separate for each operation:
    /// `idem:<tenant>:<subject>:<client key>:<operation>`.
    ///
    /// # Errors
    ///
    /// As [`Key::idempotency`].
    pub fn idempotency_of_operation(
        scope: &Scope,
        client_key: &str,
        operation: &str,
    ) -> Result<Self, KeyError> {
        Self::composed("idem", scope, &[client_key, operation])
    }

    /// The key of an idempotent call, as a keyed BLAKE3 digest: `idem:` and 64 hex digits. It can't
    /// meet a readable key, which has two more separators.
    ///
    /// # Errors
    ///
    /// [`KeyError::Empty`] when `client_key` is empty.
    pub fn idempotency_digest(
        secret: &[u8; 32],
        scope: &Scope,
        client_key: &str,
        operation: Option<&str>,
    ) -> Result<Self, KeyError> {
        if client_key.is_empty() {
            return Err(KeyError::Empty);
        }
        let mut hasher = blake3::Hasher::new_keyed(secret);
        // Presence and length stand before each part, so that no two tuples feed the same bytes.
        for part in [scope.tenant(), scope.subject(), Some(client_key), operation] {
            hasher.update(&[u8::from(part.is_some())]);
            let part = part.unwrap_or_default().as_bytes();
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self::new(format!("idem:{}", hasher.finalize().to_hex()))
    }

    /// The key of a message that a consumer handles: `inbox:<consumer>:<source>:<id>`.
    ///
    /// The segments are encoded so that two different triples never share a key.
    ///
    /// # Errors
    ///
    /// [`KeyError`] when one of them is empty or the composed key is too long.
    pub fn message(consumer: &str, source: &str, id: &str) -> Result<Self, KeyError> {
        let mut text = String::with_capacity(96);
        text.push_str("inbox");
        push_segments(&mut text, &[consumer, source, id])?;
        Self::new(text)
    }

    /// The key of a message with a BLAKE3 digest in place of what its sender chose:
    /// `inbox:<consumer>:` and 64 hex digits. It can't meet a readable key, which has one more
    /// separator. With a secret the digest is a keyed one, which nobody else can check a guess by.
    ///
    /// # Errors
    ///
    /// [`KeyError`] when one of the three is empty or the consumer's name is too long.
    pub fn message_digest(
        secret: Option<&[u8; 32]>,
        consumer: &str,
        source: &str,
        id: &str,
    ) -> Result<Self, KeyError> {
        if source.is_empty() || id.is_empty() {
            return Err(KeyError::Empty);
        }
        let mut hasher = secret.map_or_else(blake3::Hasher::new, blake3::Hasher::new_keyed);
        for part in [source, id] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut text = String::with_capacity(96);
        text.push_str("inbox");
        push_segments(&mut text, &[consumer, hasher.finalize().to_hex().as_str()])?;
        Self::new(text)
    }

    /// The key under which the attempts at what another key stands for are counted:
    /// `attempts:<key>`.
    ///
    /// # Errors
    ///
    /// [`KeyError::TooLong`] when it is; the prefix counts.
    pub fn attempts(of: &Self) -> Result<Self, KeyError> {
        Self::new(format!("attempts:{of}"))
    }

    /// The key of a lock: `lock:<resource>`. The resource is not encoded: it is one segment, the
    /// last, and follows the grammar of keys itself.
    ///
    /// # Errors
    ///
    /// [`KeyError`] when the resource is empty or breaks the grammar; the prefix counts.
    pub fn lock(resource: &str) -> Result<Self, KeyError> {
        if resource.is_empty() {
            return Err(KeyError::Empty);
        }
        Self::new(format!("lock:{resource}"))
    }

    /// The key of the highest fence that was seen for a resource: `fence:<resource>`.
    ///
    /// # Errors
    ///
    /// As [`Key::lock`].
    pub fn fence(resource: &str) -> Result<Self, KeyError> {
        if resource.is_empty() {
            return Err(KeyError::Empty);
        }
        Self::new(format!("fence:{resource}"))
    }

    /// The key of a cached value: `cache:<namespace>:<key>`; no namespace is `-`.
    ///
    /// The namespace is encoded as segments are, so that no two caches share a key. The key of the
    /// value is the last segment, and is not encoded: it follows the grammar of keys itself.
    ///
    /// # Errors
    ///
    /// [`KeyError`] when the key is empty or breaks the grammar; what stands before it counts.
    pub fn cache(namespace: Option<&str>, key: &str) -> Result<Self, KeyError> {
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        Self::new(Self::cache_prefix(namespace) + key)
    }

    /// What the keys of all values of a cache begin with: `cache:<namespace>:`.
    #[must_use]
    pub fn cache_prefix(namespace: Option<&str>) -> String {
        let mut text = String::from("cache:");
        match namespace {
            None => text.push('-'),
            Some(namespace) => push_segment(&mut text, namespace),
        }
        text.push(':');
        text
    }

    /// The text of the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first bytes of the key's BLAKE3 digest: what a record carries to prove that it was
    /// read for the right key, and what logs show instead of the key.
    #[must_use]
    pub fn digest(&self) -> KeyDigest {
        let mut short = [0; 16];
        short.copy_from_slice(&blake3::hash(self.0.as_bytes()).as_bytes()[..16]);
        KeyDigest(short)
    }

    fn composed(prefix: &str, scope: &Scope, rest: &[&str]) -> Result<Self, KeyError> {
        let mut text = String::with_capacity(96);
        text.push_str(prefix);
        for segment in [scope.tenant(), scope.subject()] {
            text.push(':');
            match segment {
                Some(segment) => push_segment(&mut text, segment),
                None => text.push('-'),
            }
        }
        push_segments(&mut text, rest)?;
        Self::new(text)
    }
}

/// Segments of which none may be empty.
fn push_segments(text: &mut String, segments: &[&str]) -> Result<(), KeyError> {
    for segment in segments {
        if segment.is_empty() {
            return Err(KeyError::Empty);
        }
        text.push(':');
        push_segment(text, segment);
    }
    Ok(())
}

fn check(text: &str) -> Result<(), KeyError> {
    if text.is_empty() {
        return Err(KeyError::Empty);
    }
    // A byte count below the limit settles the common case without counting characters.
    if text.len() > Key::MAX_CHARS {
        let chars = text.chars().count();
        if chars > Key::MAX_CHARS {
            return Err(KeyError::TooLong { chars });
        }
    }
    // Nearly all keys are visible ASCII, which needs no look at each character.
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    match text.chars().enumerate().find(|(_, c)| c.is_whitespace() || c.is_control()) {
        None => Ok(()),
        Some((at, c)) if c.is_control() => Err(KeyError::Control { at }),
        Some((at, _)) => Err(KeyError::WhiteSpace { at }),
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.digest())
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

// ===== KeyDigest =====

/// 128 bits of the BLAKE3 digest of a [`Key`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 16]);

impl KeyDigest {
    /// The bytes, as a record carries them.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for KeyDigest {
    /// The first 8 of the 32 hex digits: enough to follow a key through a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyDigest({self})")
    }
}

// ===== KeyError =====

/// Why a text is no key. The text itself is never part of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Nothing there, or nothing behind the prefix.
    #[error("the key is empty; it takes 1 to 512 characters")]
    Empty,
    /// More than [`Key::MAX_CHARS`] characters, the prefix and the encoding included.
    #[error("the key has {chars} characters; it takes 512 at most")]
    TooLong {
        /// How many characters it had.
        chars: usize,
    },
    /// A white-space character.
    #[error("the key has white space at character {at}; it takes none")]
    WhiteSpace {
        /// Its position, counted in characters from 0.
        at: usize,
    },
    /// A control character.
    #[error("the key has a control character at character {at}; it takes none")]
    Control {
        /// Its position, counted in characters from 0.
        at: usize,
    },
}

impl KeyError {
    /// A short word for programs, as in the `reason` parameter of `CACHING_VALIDATION_001`.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong { .. } => "too-long",
            Self::WhiteSpace { .. } => "white-space",
            Self::Control { .. } => "control-character",
        }
    }
}
