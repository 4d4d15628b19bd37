//! Under construction.

mod client_key;
mod problem;

pub use client_key::{
    ClientKey, KeyAlphabet, KeyFormat, KeyFormatError, KeyPattern, KeyPatternError, KeyRejected,
    KeyRule, MaxKeyChars, MaxKeyCharsError, UnixMillis,
};
pub use problem::{
    ByteCount, Code, ErrorStatus, GrpcStatus, KeyFault, Language, Param, ParamValue, Problem,
    ProblemKind, SameKey,
};
