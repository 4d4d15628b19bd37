//! What an entry of an idempotent call says.

use std::fmt::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use rand::RngExt;

use crate::fingerprint::{Fingerprint, PartName};

/// The record of one call: who claimed it, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Who claimed it, and for what. It survives every change of state.
    pub claim: Claim,
    /// How far it is.
    pub state: State,
}

/// A claim on a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What the call does.
    pub operation: Operation,
    /// What it was called with; none where the policy takes no fingerprint.
    pub fingerprint: Option<Fingerprint>,
    /// Proof of ownership, fresh for each claim.
    pub token: Token,
    /// 1 for the first owner, one more for each that took over.
    pub attempt: u32,
    /// Who that is, for people.
    pub owner: Option<Owner>,
}

impl Claim {
    /// The names of the parts in which the request that was claimed differs from another one.
    /// Where one side took no fingerprint there is nothing to compare.
    #[must_use]
    pub fn differs_from(&self, other: &Self) -> Vec<PartName> {
        match (&self.fingerprint, &other.fingerprint) {
            (Some(ours), Some(theirs)) => ours.differs_from(theirs),
            _ => Vec::new(),
        }
    }

    /// Whether both claim the key for the same operation and the same request.
    #[must_use]
    pub fn is_same_request(&self, other: &Self) -> bool {
        self.operation == other.operation && self.differs_from(other).is_empty()
    }
}

/// How far a call is. The store adds the two deadlines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Its owner works on it, as long as the lease lasts; in doubt after that.
    Held,
    /// Its owner said that the outcome can't be known.
    Doubt(Doubt),
    /// It ended.
    Done(Outcome),
}

/// Why an outcome can't be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Doubt {
    /// The work panicked or raised an error instead of returning one.
    Exception,
    /// The work was cut off before it answered.
    CutOff,
    /// A reason that a newer version wrote.
    Other,
}

// ===== Outcome =====

/// How a call ended, as the door that ran it wrote it down.
#[derive(Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Which door's form the payload has.
    pub form: Form,
    /// Whether the payload is all of it.
    pub extent: Extent,
    /// The bytes to replay.
    pub payload: Bytes,
}

/// Which form a recorded outcome has. A door replays only its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// A function's value.
    Value,
    /// A function's error.
    Error,
    /// Bytes, replayed as they are.
    Bytes,
    /// An HTTP response.
    Http,
    /// A reply of a gRPC method.
    Grpc,
    /// What a tool of an MCP server answered.
    Mcp,
    /// A form that a newer version wrote.
    Other(UnknownForm),
}

/// The number of a form that this version does not know: only reading a record makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UnknownForm(pub(crate) u8);

impl UnknownForm {
    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// How much of an outcome was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// All of it.
    Whole,
    /// That it ended, and what could be kept beside the body: the work must not run again, but
    /// its full answer can't be given.
    Partial,
}

impl fmt::Debug for Outcome {
    /// Never prints the payload: it is somebody's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome")
            .field("form", &self.form)
            .field("extent", &self.extent)
            .field("bytes", &self.payload.len())
            .finish()
    }
}

// ===== Operation =====

/// What a call does: `POST /orders/{id}`, `orders.create`; or that it does not say.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation(Arc<str>);

/// What stands for a call that names no operation. No operation can be named so.
const UNNAMED: &str = "-";

impl Operation {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 1024;

    /// An operation of this name.
    ///
    /// # Errors
    ///
    /// [`OperationError`] when it is empty, longer than [`Operation::MAX_BYTES`], or `-`, which
    /// stands for a call [without one](Operation::unnamed).
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, OperationError> {
        let name = name.into();
        if *name == *UNNAMED {
            return Err(OperationError(Fault::Reserved));
        }
        Self::recorded(name)
    }

    /// That of a call that names none. It equals no operation with a name, so that a key which was
    /// used without one is refused to every operation, and the reverse. It is shown as `-`.
    #[must_use]
    pub fn unnamed() -> Self {
        Self(UNNAMED.into())
    }

    /// As it stands in a record.
    pub(crate) fn recorded(name: Arc<str>) -> Result<Self, OperationError> {
        if name.is_empty() || name.len() > Self::MAX_BYTES {
            return Err(OperationError(Fault::Length(name.len())));
        }
        Ok(Self(name))
    }

    /// Its name; `-` for a call without one.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is that of a call that names none.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        self.as_str() == UNNAMED
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operation({})", self.0)
    }
}

/// What can't be an operation's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct OperationError(Fault);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("the operation's name has {0} bytes; it takes 1 to 1024")]
    Length(usize),
    #[error("the operation's name is `-`, which stands for a call without one; it takes another")]
    Reserved,
}

// ===== Token =====

/// 128 random bits that prove a claim. A claim is renewed, completed and released only by its
/// token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token([u8; 16]);

impl Token {
    /// A fresh token from this thread's cryptographic generator.
    #[must_use]
    pub fn fresh() -> Self {
        Self(rand::rng().random())
    }

    /// A token from its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Its bytes as 32 hex digits: for handing it on, never for a log.
    #[must_use]
    pub fn to_hex(&self) -> String {
        self.0.iter().fold(String::with_capacity(32), |mut hex, byte| {
            // Writing into a String can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// The token of 32 hex digits; none for any other text.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        if hex.len() != 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Debug for Token {
    /// The first 8 hex digits: enough to tell two apart, not enough to act as its owner.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(")?;
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("…)")
    }
}

// ===== Owner =====

/// Who holds a claim, for people: host and process, or free text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Owner(Arc<str>);

impl Owner {
    /// A label; what is over 200 characters is cut off, for it is only shown.
    #[must_use]
    pub fn new(label: &str) -> Self {
        const MOST: usize = 200;
        // So many bytes are never more characters.
        if label.len() <= MOST {
            return Self(label.into());
        }
        Self(label.chars().take(MOST).collect::<String>().into())
    }

    /// The label.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_that_of_a_call_without_an_operation() {
        let unnamed = Operation::unnamed();
        assert!(unnamed.is_unnamed());
        assert_eq!(Operation::recorded(unnamed.as_str().into()), Ok(unnamed.clone()));
        let error = Operation::new(unnamed.as_str()).unwrap_err();
        assert!(error.to_string().contains("`-`"), "{error}");
        for name in ["call", "%2D", "--", " "] {
            let named = Operation::new(name).unwrap();
            assert!(!named.is_unnamed() && named != unnamed, "{name}");
        }
    }

    #[test]
    fn a_name_has_1_to_1024_bytes() {
        assert!(Operation::new("o".repeat(Operation::MAX_BYTES)).is_ok());
        for name in [String::new(), "o".repeat(Operation::MAX_BYTES + 1)] {
            let error = Operation::new(name.clone()).unwrap_err();
            let told = format!("the operation's name has {} bytes; it takes 1 to 1024", name.len());
            assert_eq!(error.to_string(), told);
            assert!(Operation::recorded(name.into()).is_err());
        }
    }
}
