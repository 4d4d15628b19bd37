//! The task that renews the claims of one runtime.

use std::pin::pin;
use std::sync::{Arc, Weak};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use semel_core::StoreError;
use tokio::runtime::Id;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::group::Due;
use super::{Keeper, Kept, Leased, plan};
use crate::timer;

/// The task's own hold: it does not keep the engine alive, and when it is dropped with its
/// runtime, the next claim of a runtime of the same name starts another.
pub(super) struct Running<H: Leased> {
    keeper: Weak<Keeper<H>>,
    runtime: Id,
    ended: bool,
}

impl<H: Leased> Running<H> {
    pub(super) fn new(keeper: &Arc<Keeper<H>>, runtime: Id) -> Self {
        Self { keeper: Arc::downgrade(keeper), runtime, ended: false }
    }
}

impl<H: Leased> Drop for Running<H> {
    fn drop(&mut self) {
        if let Some(keeper) = self.keeper.upgrade().filter(|_| !self.ended) {
            keeper.in_group(self.runtime, |group| group.task_is_gone(timer::now()));
        }
    }
}

/// Looks for what is due, renews it, and sleeps until something is due again. It ends when there
/// is no claim left; the next one starts another.
///
/// All that is due is renewed at once: renewals that hang hold up no other, and stores are at
/// their best when they get many calls together.
pub(super) async fn run<H: Leased>(mut running: Running<H>, earlier: Arc<Notify>) {
    let mut under_way = FuturesUnordered::new();
    let mut failures = Failures::default();
    loop {
        let wakes = {
            let Some(keeper) = running.keeper.upgrade() else { return };
            let (due, wakes) = keeper.look(running.runtime, under_way.is_empty());
            under_way.extend(due.into_iter().map(|due| attend(&keeper, running.runtime, due)));
            wakes
        };
        let Some(wakes) = wakes else {
            running.ended = true;
            return;
        };
        let mut alarm = pin!(timer::sleep_until(wakes));
        loop {
            tokio::select! {
                () = earlier.notified() => break,
                () = &mut alarm => {
                    failures.tell();
                    break;
                }
                Some(failed) = under_way.next() => {
                    failures.note(failed);
                    if under_way.is_empty() {
                        failures.tell();
                        break;
                    }
                }
            }
        }
    }
}

/// Renews one claim and says what went wrong, if the store did.
fn attend<H: Leased>(
    keeper: &Arc<Keeper<H>>,
    runtime: Id,
    Due { slot, held }: Due<H>,
) -> impl Future<Output = Option<StoreError>> + Send + use<H> {
    let keeper = Arc::clone(keeper);
    async move {
        let (next, lost, failed) = match held.renew(&*keeper.store).await {
            Kept::On(step) => (Some(plan(&*held, step)), None, None),
            Kept::Failed(step, error) => (Some(plan(&*held, step)), None, Some(error)),
            Kept::Finished => (None, None, None),
            Kept::Lost(reason) => (None, Some(reason), None),
        };
        let there = keeper.in_group(runtime, |group| group.settle(slot, &held, next));
        // An owner that has left gave the claim up itself.
        if let (Some(reason), Some(true)) = (lost, there) {
            held.lose(reason);
        }
        failed
    }
}

impl<H: Leased> Keeper<H> {
    /// What is due, and when to look again; none when the task is to end.
    fn look(&self, runtime: Id, idle: bool) -> (Vec<Due<H>>, Option<Instant>) {
        let look = self.in_group(runtime, |group| group.look(timer::now(), idle));
        let look = look.unwrap_or_default();
        for held in look.ended {
            held.lapse();
        }
        (look.due, look.wakes)
    }
}

/// What went wrong since it was last told: one line for all, because a store that is down fails
/// for every claim.
#[derive(Default)]
struct Failures {
    count: u64,
    last: Option<StoreError>,
}

impl Failures {
    fn note(&mut self, failed: Option<StoreError>) {
        if failed.is_some() {
            metrics::counter!("semel_renewals_failed_total").increment(1);
            self.count += 1;
            self.last = failed;
        }
    }

    fn tell(&mut self) {
        if let Some(error) = self.last.take() {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(leases = self.count, error, "leases could not be renewed");
            self.count = 0;
        }
    }
}
