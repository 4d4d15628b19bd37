//! One renewal of a claim.

use semel_core::protocol::{Ask, Lease, Renew, Renewed, Seen, Verdict};
use semel_core::{State, Store, StoreError};
use tokio::time::Instant;

use super::{Kept, Leased};
use crate::drive::{Driven, drive};
use crate::once::{Held, LossReason};
use crate::timer;

impl Leased for Held {
    type Loss = LossReason;

    fn asked(&self) -> Instant {
        self.asked
    }

    fn lease(&self) -> &Lease {
        &self.lease
    }

    fn renew(&self, store: &dyn Store) -> impl Future<Output = Kept<LossReason>> + Send {
        renew(store, self)
    }

    fn lose(&self, why: LossReason) {
        Self::lose(self, why);
    }

    fn lapse(&self) {
        Self::lose(self, LossReason::Expired);
    }
}

/// Renews a claim once.
///
/// A store that does not answer must not use up the time in which trying again might help: each
/// try gets a quarter of the lease, and none goes beyond the lease's end.
async fn renew(store: &dyn Store, held: &Held) -> Kept<LossReason> {
    let (sent, left) = (held.since_asked(), held.remaining());
    // Its owner may have been told already, and another may have begun: it is not taken back,
    // even where the store would have it.
    if left.is_zero() {
        return Kept::Lost(LossReason::Expired);
    }
    let limit = (held.lease.length / 4).min(left);
    let ask = KeepUp(Renew { token: held.claim.token, lease: held.length, keep: held.keep });
    let failed =
        |error| Kept::Failed(held.lease.after_failure(held.granted(), held.since_asked()), error);
    match timer::within(limit, drive(store, &held.at, &ask, held.presumed())).await {
        Some(Ok(Driven { answer: KeptUp::Renewed, version, .. })) => {
            held.renewed(sent, version);
            Kept::On(held.lease.after_grant(sent))
        }
        Some(Ok(Driven { answer: KeptUp::Finished, .. })) => Kept::Finished,
        Some(Ok(Driven { answer: KeptUp::Lost, .. })) => Kept::Lost(LossReason::Taken),
        Some(Err(error)) => failed(error),
        None => failed(StoreError::unknown(format!("no answer within {limit:?}"))),
    }
}

/// As [`Renew`], but a claim that its own owner has finished meanwhile is not lost: a renewal
/// may be under way while its outcome is being recorded.
struct KeepUp(Renew);

enum KeptUp {
    Renewed,
    Finished,
    Lost,
}

impl Ask for KeepUp {
    type Answer = KeptUp;

    fn decide(&self, seen: &Seen) -> Verdict<KeptUp> {
        let ours = seen.owned_by(self.0.token);
        if ours.is_some_and(|ours| !matches!(ours.record.state, State::Held)) {
            return Verdict::Answer(KeptUp::Finished);
        }
        let kept_up = |answer| match answer {
            Renewed::Renewed => KeptUp::Renewed,
            Renewed::Lost => KeptUp::Lost,
        };
        match self.0.decide(seen) {
            Verdict::Write { expect, write, answer } => {
                Verdict::Write { expect, write, answer: kept_up(answer) }
            }
            Verdict::Answer(answer) => Verdict::Answer(kept_up(answer)),
        }
    }
}
