//! A look at a lock that is held when the store says that it changed: for news that must not wait
//! for the next renewal.

use std::sync::{Arc, Weak};
use std::time::Duration;

use semel_core::Store;
use semel_core::protocol::Verdict;
use semel_core::protocol::lock::{LockAsk, Renew, Renewed};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::drive::look;
use super::held::Held;
use super::lost::LockLoss;
use crate::drive::PATIENCE;
use crate::keeper::{Keeper, Place};
use crate::timer;

/// How long a lock is held before anybody listens: most are given back sooner.
const FIRST: Duration = Duration::from_secs(1);

/// How long it takes after a change until one looks: what the holder's own renewals change is known
/// by then.
const SETTLES: Duration = Duration::from_millis(100);

/// How long one rests after a look: those who wait change the entry all the time.
const REST: Duration = Duration::from_millis(900);

/// Watches over a lock until it is aborted, lost or gone.
pub(super) fn watch(
    keeper: &Arc<Keeper<Held>>,
    place: Place,
    held: &Arc<Held>,
    runtime: &Handle,
) -> AbortHandle {
    runtime.spawn(run(Arc::clone(keeper), place, Arc::downgrade(held))).abort_handle()
}

async fn run(keeper: Arc<Keeper<Held>>, place: Place, held: Weak<Held>) {
    let store = keeper.store();
    timer::sleep(FIRST).await;
    // What happened before one listened is looked for once: at first nothing is known.
    let mut known = held.upgrade().and_then(|held| held.wrote_at());
    loop {
        let Some(there) = held.upgrade().filter(|held| !held.is_over()) else { return };
        let hint = store.changed(&there.at.key);
        if there.wrote_at() != known {
            known = there.wrote_at();
        } else {
            // Not ours: somebody wants something of it.
            look_after(store, &there).await;
            if there.is_over() {
                keeper.leave(place, &there);
                return;
            }
            timer::sleep(REST).await;
        }
        drop(there);
        hint.await;
        timer::sleep(SETTLES).await;
    }
}

/// Looks, and tells the holder if the lock is not its any more.
async fn look_after(store: &dyn Store, held: &Held) {
    // A release or renewal under way knows best what it does.
    let _turn = held.turn.lock().await;
    if held.is_over() {
        return;
    }
    // It is in the way of a renewal, which may be the last in time: what takes longer is left to that.
    let limit = (held.lease.length / 12).min(PATIENCE);
    let Some(Ok((seen, _))) = timer::within(limit, look(store, &held.at)).await else { return };
    let renew = Renew { token: held.token, lease: held.terms.ttl };
    if let Verdict::Answer(Renewed::Lost(lost)) = renew.decide(&seen) {
        held.lose(LockLoss::of(lost));
    }
}
