//! What a caller is told when a call is not carried out: a stable code, a status, and words for
//! the person who reads them, in that person's language.
//!
//! A [`Problem`] is the answer of Semel itself, never of the work behind it. Doors turn it into
//! their own form: HTTP into `application/problem+json` (RFC 9457), gRPC into a status. Everything
//! they need is here, so that all doors say the same.
//!
//! # What may be in it, and what may not
//!
//! A problem goes to whoever asked. Its texts and parameters hold names of operations, headers,
//! parts and limits, and the resource of a lock that the caller named itself. They never hold a
//! client's key, a body, a credential, or the cause inside a store: that belongs in the log.
//!
//! # The map
//!
//! [`ProblemKind`] says what happened, with what belongs to it; it decides the [`Code`], which
//! fixes the code's text, its statuses, its message key and whether the same key may be used
//! again. [`Language`] is what titles and details are written in. `docs/errors/` has a page for
//! each code.

mod code;
mod key_fault;
mod kind;
mod language;
mod moment;
mod negotiate;
mod params;
mod report;
mod status;
mod text;

#[cfg(test)]
mod tests;

pub use code::{Code, SameKey};
pub use key_fault::KeyFault;
pub use kind::{ByteCount, ProblemKind};
pub use language::Language;
pub use moment::rfc3339;
pub use params::{Param, ParamValue};
pub use report::Problem;
pub use status::{ErrorStatus, GrpcStatus};
