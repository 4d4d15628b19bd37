//! The codes: one row each, as in the contract.

use std::fmt;

use super::status::{ErrorStatus, GrpcStatus};

/// What kind of problem it is.
///
/// Each variant is one row of the contract's table of codes. Two rows share the text
/// `CACHING_CONFLICT_003`; their [message keys](Code::message_key) tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// `CACHING_CONFLICT_001`: a lock is held by somebody else.
    LockHeld,
    /// `CACHING_CONFLICT_002`: the first call with this key still runs.
    InProgress,
    /// `CACHING_CONFLICT_003`: the key belongs to another operation.
    KeyReused,
    /// `CACHING_CONFLICT_003`: the first call is done, its response wasn't kept.
    ResponseUnavailable,
    /// `CACHING_CONFLICT_004`: nobody knows how the first call ended.
    InDoubt,
    /// `CACHING_VALIDATION_001`: the key breaks the grammar, or its sources disagree.
    KeyInvalid,
    /// `CACHING_VALIDATION_002`: there is no key, and there must be.
    KeyMissing,
    /// `CACHING_VALIDATION_003`: the same key came with another request.
    PayloadMismatch,
    /// `CACHING_VALIDATION_004`: the key was made longer ago than keys are remembered.
    KeyExpired,
    /// `CACHING_VALIDATION_005`: the request body is over the limit.
    BodyTooLarge,
    /// `CACHING_UNAVAILABLE_001`: the store can't be reached.
    StoreUnavailable,
    /// `CACHING_UNAVAILABLE_002`: the store is full.
    StoreFull,
}

/// Whether a client may send the same request with the same key again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SameKey {
    /// It may, later: that is what the key is for.
    Yes,
    /// It gets the same answer each time.
    No,
}

impl SameKey {
    /// As problem documents have it: `true` for [`SameKey::Yes`].
    #[must_use]
    pub const fn as_bool(self) -> bool {
        matches!(self, Self::Yes)
    }
}

struct Row {
    code: &'static str,
    type_uri: &'static str,
    status: ErrorStatus,
    grpc: GrpcStatus,
    message_key: &'static str,
    same_key: SameKey,
}

macro_rules! row {
    ($code:literal, $status:ident, $grpc:ident, $message_key:literal, $same_key:ident) => {
        Row {
            code: $code,
            type_uri: concat!("urn:semel:problem:", $code),
            status: ErrorStatus::$status,
            grpc: GrpcStatus::$grpc,
            message_key: $message_key,
            same_key: SameKey::$same_key,
        }
    };
}

impl Code {
    /// Every code, in the order of the contract.
    pub const ALL: [Self; 12] = [
        Self::LockHeld,
        Self::InProgress,
        Self::KeyReused,
        Self::ResponseUnavailable,
        Self::InDoubt,
        Self::KeyInvalid,
        Self::KeyMissing,
        Self::PayloadMismatch,
        Self::KeyExpired,
        Self::BodyTooLarge,
        Self::StoreUnavailable,
        Self::StoreFull,
    ];

    #[rustfmt::skip]
    const fn row(self) -> Row {
        match self {
            Self::LockHeld => row!("CACHING_CONFLICT_001", CONFLICT, Aborted, "caching.lock.held", Yes),
            Self::InProgress => row!("CACHING_CONFLICT_002", CONFLICT, Aborted, "caching.idempotency.in_progress", Yes),
            Self::KeyReused => row!("CACHING_CONFLICT_003", CONFLICT, FailedPrecondition, "caching.idempotency.key_reused", No),
            Self::ResponseUnavailable => row!("CACHING_CONFLICT_003", CONFLICT, FailedPrecondition, "caching.idempotency.response_unavailable", No),
            Self::InDoubt => row!("CACHING_CONFLICT_004", CONFLICT, Aborted, "caching.idempotency.in_doubt", No),
            Self::KeyInvalid => row!("CACHING_VALIDATION_001", BAD_REQUEST, InvalidArgument, "caching.key.invalid", No),
            Self::KeyMissing => row!("CACHING_VALIDATION_002", BAD_REQUEST, InvalidArgument, "caching.idempotency.key_missing", No),
            Self::PayloadMismatch => row!("CACHING_VALIDATION_003", UNPROCESSABLE_CONTENT, InvalidArgument, "caching.idempotency.payload_mismatch", No),
            Self::KeyExpired => row!("CACHING_VALIDATION_004", BAD_REQUEST, InvalidArgument, "caching.idempotency.key_expired", No),
            Self::BodyTooLarge => row!("CACHING_VALIDATION_005", CONTENT_TOO_LARGE, ResourceExhausted, "caching.idempotency.body_too_large", No),
            Self::StoreUnavailable => row!("CACHING_UNAVAILABLE_001", SERVICE_UNAVAILABLE, Unavailable, "caching.store.unavailable", Yes),
            Self::StoreFull => row!("CACHING_UNAVAILABLE_002", SERVICE_UNAVAILABLE, ResourceExhausted, "caching.store.full", Yes),
        }
    }

    /// The text of the code, such as `CACHING_CONFLICT_002`. It never changes.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.row().code
    }

    /// The `type` of a problem document (RFC 9457, 3.1.1): `urn:semel:problem:` and the code.
    #[must_use]
    pub const fn type_uri(self) -> &'static str {
        self.row().type_uri
    }

    /// The HTTP status, unless a preset has another: see
    /// [`Problem::with_status`](super::Problem::with_status).
    #[must_use]
    pub const fn status(self) -> ErrorStatus {
        self.row().status
    }

    /// The gRPC status. No preset changes it.
    #[must_use]
    pub const fn grpc(self) -> GrpcStatus {
        self.row().grpc
    }

    /// The key under which an application may hold its own text, such as
    /// `caching.idempotency.in_progress`. No two rows share one.
    #[must_use]
    pub const fn message_key(self) -> &'static str {
        self.row().message_key
    }

    /// Whether the same request may be sent with the same key again.
    #[must_use]
    pub const fn same_key(self) -> SameKey {
        self.row().same_key
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
