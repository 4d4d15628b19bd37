//! The statuses that doors answer with.

use std::fmt;

/// An HTTP status that says an error: 400 to 599 (RFC 9110, 15.5 and 15.6). A success can't be
/// put into a problem by mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorStatus(u16);

impl ErrorStatus {
    /// 400, the request can't be understood as it is.
    pub const BAD_REQUEST: Self = Self(400);
    /// 409, the request is at odds with what is going on.
    pub const CONFLICT: Self = Self(409);
    /// 413, the request body is too large.
    pub const CONTENT_TOO_LARGE: Self = Self(413);
    /// 422, the request is well formed and yet can't be carried out.
    pub const UNPROCESSABLE_CONTENT: Self = Self(422);
    /// 503, not now.
    pub const SERVICE_UNAVAILABLE: Self = Self(503);

    /// A status from its number; none outside 400 to 599.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        match number {
            400..=599 => Some(Self(number)),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub const fn as_u16(self) -> u16 {
        self.0
    }
}

impl fmt::Display for ErrorStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A gRPC status, as far as problems use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrpcStatus {
    /// Given up because of what else is going on; may be tried again from further up.
    Aborted,
    /// Trying again is of no use before something else has changed.
    FailedPrecondition,
    /// The request itself is wrong.
    InvalidArgument,
    /// A limit is reached.
    ResourceExhausted,
    /// Not now.
    Unavailable,
}

impl GrpcStatus {
    /// The name in gRPC's own spelling, such as `FAILED_PRECONDITION`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aborted => "ABORTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::Unavailable => "UNAVAILABLE",
        }
    }

    /// The number that stands for it in the `grpc-status` trailer.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::InvalidArgument => 3,
            Self::ResourceExhausted => 8,
            Self::FailedPrecondition => 9,
            Self::Aborted => 10,
            Self::Unavailable => 14,
        }
    }
}

impl fmt::Display for GrpcStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
