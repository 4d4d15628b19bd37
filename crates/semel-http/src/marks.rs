//! What marks an answer as the layer's own doing: its headers, and a mark that only layers see.

use http::{HeaderName, response};
use semel::{Language, Problem};

/// The code of an answer of the layer's own: tells it from the handler's.
pub(crate) const ERROR: HeaderName = HeaderName::from_static("idempotency-error");
/// On an answer whose work ran although the store could not be reached.
pub(crate) const UNPROTECTED: HeaderName = HeaderName::from_static("idempotency-unprotected");
/// On an answer whose record the store has not taken (yet): a repeat may not get it.
pub(crate) const DURABLE: HeaderName = HeaderName::from_static("idempotency-durable");
/// On a replay, unless the settings name another header, or none.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// In the extensions of every answer that the layer gave itself, for layers further out that say
/// the same in another form.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum OwnAnswer {
    /// It tells of a problem, in the language that the request asked for.
    Problem(Problem, Language),
    /// A fault of the service or of the connection, which has no code: what was wrong, in English.
    Fault(&'static str),
}

/// Whether an idempotency layer answered this itself.
pub(crate) fn is_own(head: &response::Parts) -> bool {
    head.extensions.get::<OwnAnswer>().is_some() || head.headers.contains_key(ERROR)
}
