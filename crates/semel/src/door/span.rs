//! What a log shows of a call: everything that its work logs stands in this span.

use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::once::{Begun, Call};

/// The span `idempotent_call`, with a short digest of the key, never the key. Its fields `outcome`
/// and `attempt` are empty until [`tell_begun`].
#[must_use]
pub fn span_of(call: &Call) -> Span {
    info_span!(
        "idempotent_call",
        key = %call.key().digest(),
        operation = %call.operation(),
        outcome = Empty,
        attempt = Empty,
    )
}

/// Tells the current span what the call came to; for one that may run, the how-many-eth owner of
/// its key it is.
pub fn tell_begun(begun: &Begun) {
    let span = Span::current();
    let outcome = match begun {
        Begun::Fresh(claim) => {
            span.record("attempt", claim.permit().attempt());
            "fresh"
        }
        Begun::Replay(_) => "replay",
        Begun::Busy(_) => "busy",
        Begun::Refused(_) => "refused",
        Begun::Unprotected(_) => "unprotected",
    };
    span.record("outcome", outcome);
}
