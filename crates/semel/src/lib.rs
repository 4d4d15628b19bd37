//! Retries made harmless: idempotent calls that run once.
//!
//! (The manual of this crate is being written.)

mod client_key;
mod drive;
mod keeper;
mod once;
mod open;
mod owner;
mod policy;
mod problem;
mod run;
mod sweep;
pub mod timer;
mod wait;

pub use client_key::{
    ClientKey, KeyAlphabet, KeyFormat, KeyFormatError, KeyPattern, KeyPatternError, KeyRejected,
    KeyRule, MaxKeyChars, MaxKeyCharsError, UnixMillis,
};
pub use once::{
    Attached, Begun, Busy, Call, Claim, Drained, Finished, GivenUp, LossReason, Once, OnceBuilder,
    Permit, Replay, Unprotected,
};
pub use open::{OpenError, open, preflight};
pub use policy::{
    BindOperation, DetectExpired, Doubtful, Guarantee, InDoubtPolicy, InFlight, KeyStorage,
    MissingKey, OnException, Policy, PolicyBuilder, PolicyError, Preset, Reconcile, Reconciled,
    RetryAfter, StoreDown, UnknownWord,
};
pub use problem::{
    ByteCount, Code, ErrorStatus, GrpcStatus, KeyFault, Language, Param, ParamValue, Problem,
    ProblemKind, SameKey,
};
pub use run::{CallBuilder, CallError, CodecError};
pub use semel_core as core;
pub use semel_core::{
    Extent, Fingerprint, Form, Key, MemoryLimits, MemoryStore, Operation, Outcome, PartDigest,
    PartHasher, Scope, Store, StoreError,
};
