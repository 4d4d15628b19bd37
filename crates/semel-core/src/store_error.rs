//! What went wrong in a store, told by what may be concluded from it.

use std::error::Error;
use std::fmt;

/// A failed store call.
///
/// [`StoreError::kind`] is for decisions; the message and the source are for people. No message
/// holds a key, a value or a credential.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What may be concluded from a failed store call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Nothing was changed; the same call may work later.
    NotApplied,
    /// It may have been applied or not: read again before concluding anything.
    Unknown,
    /// Nothing was changed and the same call will not work either.
    Refused(Refusal),
    /// Bytes were found that this version can't read. The entry is there; what it says is not
    /// known. Never to be taken for "absent".
    Damaged,
}

/// Why a store refused for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// A bounded store has no room.
    Full,
    /// The value is over the store's limit.
    TooLarge,
    /// The store does not let us in, or not do this.
    Credentials,
    /// The store can't be used as it is: a newer schema, a wrong configuration.
    Unusable,
}

impl StoreError {
    /// Nothing was changed; the same call may work later.
    pub fn not_applied(message: impl Into<String>) -> Self {
        Self::of(StoreErrorKind::NotApplied, message)
    }

    /// It may have been applied.
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::of(StoreErrorKind::Unknown, message)
    }

    /// Refused for good.
    pub fn refused(refusal: Refusal, message: impl Into<String>) -> Self {
        Self::of(StoreErrorKind::Refused(refusal), message)
    }

    /// Unreadable bytes.
    pub fn damaged(message: impl Into<String>) -> Self {
        Self::of(StoreErrorKind::Damaged, message)
    }

    /// An error of a kind that was decided elsewhere.
    pub fn of(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same error with its cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What may be concluded.
    #[must_use]
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The message, without its cause.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says = match self.kind {
            StoreErrorKind::NotApplied => "not applied",
            StoreErrorKind::Unknown => "unknown whether applied",
            StoreErrorKind::Refused(Refusal::Full) => "refused, the store is full",
            StoreErrorKind::Refused(Refusal::TooLarge) => "refused, the value is too large",
            StoreErrorKind::Refused(Refusal::Credentials) => "refused, not permitted",
            StoreErrorKind::Refused(Refusal::Unusable) => "refused, the store can't be used",
            StoreErrorKind::Damaged => "damaged",
        };
        write!(f, "{says}: {}", self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
