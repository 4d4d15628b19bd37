//! One renewal of a lock.

use semel_core::protocol::lock::{Renew, Renewed};
use semel_core::protocol::{Lease, LeaseStep};
use semel_core::{Store, StoreError, StoreErrorKind, Ttl};
use tokio::time::Instant;

use super::drive::drive;
use super::held::Held;
use super::lost::LockLoss;
use crate::keeper::{Kept, Leased};
use crate::timer;

impl Leased for Held {
    type Loss = LockLoss;

    fn asked(&self) -> Instant {
        self.asked.instant()
    }

    fn lease(&self) -> &Lease {
        &self.lease
    }

    fn renew(&self, store: &dyn Store) -> impl Future<Output = Kept<LockLoss>> + Send {
        renew(store, self)
    }

    fn lose(&self, why: LockLoss) {
        Self::lose(self, why);
    }

    fn lapse(&self) {
        Self::lapse(self);
    }
}

/// Renews a lock once, if it is worth it.
///
/// A store that does not answer must not use up the time in which trying again might help: each
/// try gets a quarter of the lease, and none goes beyond the lease's end.
async fn renew(store: &dyn Store, held: &Held) -> Kept<LockLoss> {
    let _turn = held.turn.lock().await;
    if let Some(why) = held.loss() {
        return Kept::Lost(why);
    }
    let left = held.remaining();
    if left > held.lease.length {
        // It was extended: to renew it now would make it shorter.
        let granted = held.deadline().saturating_sub(held.lease.length);
        return Kept::On(held.lease.after_grant(granted));
    }
    let limit = (held.lease.length / 4).min(left);
    match timer::within(limit, ask(store, held, held.terms.ttl)).await {
        Some(Ok(Asked::Renewed(step))) => Kept::On(step),
        Some(Ok(Asked::Lost(why))) => Kept::Lost(why),
        Some(Err(error)) => failed(held, error),
        None => failed(held, StoreError::unknown(format!("no answer within {limit:?}"))),
    }
}

fn failed(held: &Held, error: StoreError) -> Kept<LockLoss> {
    let refused = matches!(error.kind(), StoreErrorKind::Refused(_));
    Kept::Failed(held.not_renewed(refused), error)
}

/// What the store says to a renewal.
pub(super) enum Asked {
    Renewed(LeaseStep),
    Lost(LockLoss),
}

/// Asks the store for a lease of this length from now. The caller has the holder's turn.
pub(super) async fn ask(store: &dyn Store, held: &Held, lease: Ttl) -> Result<Asked, StoreError> {
    let renew = Renew { token: held.token, lease };
    let driven = drive(store, &held.at, &renew, held.start()).await?;
    match driven.answer.clone() {
        Renewed::Renewed => Ok(Asked::Renewed(held.renewed(driven, lease))),
        Renewed::Lost(lost) => Ok(Asked::Lost(LockLoss::of(lost))),
    }
}
