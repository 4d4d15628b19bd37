//! What a log shows of a call: everything that its tool logs stands in this span.

use semel::{Begun, Call};
use tracing::field::Empty;
use tracing::{Span, info_span};

/// The span `idempotent_call`, with a short digest of the key, never the key.
pub(crate) fn of(call: &Call) -> Span {
    info_span!(
        "idempotent_call",
        key = %call.key().digest(),
        operation = %call.operation(),
        outcome = Empty,
        attempt = Empty,
    )
}

/// What the call came to; for one that may run, the how-many-eth owner of its key it is.
pub(crate) fn tell(begun: &Begun) {
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
