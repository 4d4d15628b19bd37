//! The problem itself.

use std::fmt;
use std::time::Duration;

use super::code::{Code, SameKey};
use super::kind::ProblemKind;
use super::language::Language;
use super::params::{self, Param};
use super::status::{ErrorStatus, GrpcStatus};
use super::text;

/// Why a call was not carried out, or can't be answered: for the caller.
///
/// Made from a [`ProblemKind`]. `Display` gives the code and the detail in English, for logs and
/// for programs without a door; it holds no key, no body and no credential.
///
/// ```
/// use semel::{Language, Problem, ProblemKind};
///
/// let problem = Problem::from(ProblemKind::PayloadMismatch { differs: vec!["body".into()] });
/// assert_eq!(problem.code().code(), "CACHING_VALIDATION_003");
/// assert_eq!(problem.status().as_u16(), 422);
/// assert_eq!(
///     problem.detail(Language::English),
///     "The request body differs from the one first sent with this key. \
///      Use a new key for a new request."
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    kind: ProblemKind,
    status: ErrorStatus,
}

impl Problem {
    /// A problem with the status of its code.
    #[must_use]
    pub const fn new(kind: ProblemKind) -> Self {
        let status = kind.code().status();
        Self { kind, status }
    }

    /// The same problem with another HTTP status, where a preset follows a protocol that has
    /// other ideas. Code, message key and everything else stay.
    #[must_use]
    pub const fn with_status(mut self, status: ErrorStatus) -> Self {
        self.status = status;
        self
    }

    /// What happened, with what belongs to it.
    #[must_use]
    pub const fn kind(&self) -> &ProblemKind {
        &self.kind
    }

    /// The code: its text, statuses and message key.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.kind.code()
    }

    /// The HTTP status to answer with: the code's, unless [`Problem::with_status`] set another.
    #[must_use]
    pub const fn status(&self) -> ErrorStatus {
        self.status
    }

    /// The gRPC status to answer with.
    #[must_use]
    pub const fn grpc(&self) -> GrpcStatus {
        self.code().grpc()
    }

    /// The `type` of a problem document (RFC 9457): `urn:semel:problem:` and the code.
    #[must_use]
    pub const fn type_uri(&self) -> &'static str {
        self.code().type_uri()
    }

    /// The key under which an application may hold its own text.
    #[must_use]
    pub const fn message_key(&self) -> &'static str {
        self.code().message_key()
    }

    /// Whether the same request may be sent with the same key again.
    #[must_use]
    pub const fn same_key(&self) -> SameKey {
        self.code().same_key()
    }

    /// The parameters of the message, in the order of the contract. Their values are for programs
    /// and for an application's own texts.
    #[must_use]
    pub fn params(&self) -> Vec<Param> {
        params::of(&self.kind)
    }

    /// When to come back, in whole seconds, rounded up: the value of `Retry-After` (RFC 9110,
    /// 10.2.3). None where the problem says nothing about it.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match &self.kind {
            ProblemKind::InProgress { retry_after } => {
                retry_after.map(params::rounded_up).map(Duration::from_secs)
            }
            _ => None,
        }
    }

    /// What kind of problem it is, in a few words. The same for every problem of its kind.
    #[must_use]
    pub const fn title(&self, language: Language) -> &'static str {
        text::title(self.code(), language)
    }

    /// What was wrong this time and what to do, for the person who reads it.
    #[must_use]
    pub fn detail(&self, language: Language) -> String {
        text::detail(&self.kind, language)
    }
}

impl From<ProblemKind> for Problem {
    fn from(kind: ProblemKind) -> Self {
        Self::new(kind)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.detail(Language::English))
    }
}

impl std::error::Error for Problem {}
