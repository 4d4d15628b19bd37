//! All waiters of one engine.
//!
//! The waiters of a key share one watch: one task that listens for the store's hint and reads,
//! and tells them all what it saw. A hint may be lost, so a slow poll stands behind it; a lease
//! that ends makes no hint, so its end is waited for too. Nobody holds a store connection while
//! waiting.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rand::RngExt;
use semel_core::protocol::Seen;
use semel_core::{State, Store, StoreError};
use tokio::sync::watch;

use crate::drive::{Address, look};
use crate::timer;

/// The pace of the poll behind the hints: once in one to one and a half of these.
const POLL: Duration = Duration::from_secs(1);

type News = Option<Arc<Result<Seen, StoreError>>>;

/// The waiters of one engine.
#[derive(Debug)]
pub(crate) struct Waiters {
    store: Arc<dyn Store>,
    watches: Mutex<HashMap<semel_core::Key, watch::Sender<News>>>,
}

/// How waiting ended.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The call is not in flight any more, or its lease has ended.
    Over(Arc<Result<Seen, StoreError>>),
    /// It still was when the time was up.
    TimedOut,
    /// Too many wait for this key already.
    TooMany,
}

impl Waiters {
    pub(crate) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, watches: Mutex::default() })
    }

    /// Waits until the call under a key is not in flight, at most for `budget`.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind: the last waiter to leave ends the watch.
    pub(crate) async fn until_over(
        self: &Arc<Self>,
        at: &Address,
        budget: Duration,
        most: usize,
    ) -> Waited {
        let Some(mut news) = self.join(at, most) else { return Waited::TooMany };
        let over = async {
            loop {
                let seen = news.borrow_and_update().clone();
                if let Some(seen) = seen.filter(|seen| is_over(seen)) {
                    return seen;
                }
                // The watch ends only once nobody listens, and we do.
                if news.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        match timer::within(budget, over).await {
            Some(seen) => Waited::Over(seen),
            None => Waited::TimedOut,
        }
    }

    /// How many keys are watched, for tests and gauges.
    pub(crate) fn watched(&self) -> usize {
        self.watches.lock().len()
    }

    fn join(self: &Arc<Self>, at: &Address, most: usize) -> Option<watch::Receiver<News>> {
        let mut watches = self.watches.lock();
        if let Some(watch) = watches.get(&at.key) {
            return (watch.receiver_count() < most).then(|| watch.subscribe());
        }
        if most == 0 {
            return None;
        }
        let (watch, news) = watch::channel(None);
        watches.insert(at.key.clone(), watch.clone());
        tokio::spawn(run(Running { waiters: Arc::downgrade(self), at: at.clone(), watch }));
        Some(news)
    }
}

fn is_over(seen: &Result<Seen, StoreError>) -> bool {
    match seen {
        Ok(seen) => !seen
            .record
            .as_ref()
            .is_some_and(|there| there.record.state == State::Held && !there.lease_left.is_zero()),
        // An unreadable record will not become readable by waiting; all else may pass.
        Err(error) => error.kind() == semel_core::StoreErrorKind::Damaged,
    }
}

/// A watch's task. However it ends, the watch is out of the table, so that the next waiter starts
/// another.
struct Running {
    waiters: Weak<Waiters>,
    at: Address,
    watch: watch::Sender<News>,
}

impl Running {
    /// Takes the watch out of the table if nobody listens. Under the table's lock, so that nobody
    /// can join a watch that is ending.
    fn leave_if_alone(&self) -> bool {
        let Some(waiters) = self.waiters.upgrade() else { return true };
        let mut watches = waiters.watches.lock();
        let alone = self.watch.receiver_count() == 0;
        if alone {
            self.remove_own(&mut watches);
        }
        alone
    }

    fn remove_own(&self, watches: &mut HashMap<semel_core::Key, watch::Sender<News>>) {
        if watches.get(&self.at.key).is_some_and(|there| there.same_channel(&self.watch)) {
            watches.remove(&self.at.key);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(waiters) = self.waiters.upgrade() {
            self.remove_own(&mut waiters.watches.lock());
        }
    }
}

async fn run(running: Running) {
    loop {
        let Some(waiters) = running.waiters.upgrade() else { return };
        // Listen first, read then: a change between the two is in the read.
        let hint = waiters.store.changed(&running.at.key);
        let seen = look(&*waiters.store, &running.at).await;
        drop(waiters);
        let pause = pause_after(&seen);
        running.watch.send_replace(Some(Arc::new(seen)));
        tokio::select! {
            () = hint => {}
            () = timer::sleep(pause) => {}
            () = running.watch.closed() => {}
        }
        if running.leave_if_alone() {
            return;
        }
    }
}

/// How long until the next look without a hint: the poll's pace, or the end of the lease.
fn pause_after(seen: &Result<Seen, StoreError>) -> Duration {
    let poll = POLL + POLL.mul_f64(rand::rng().random_range(0.0..0.5));
    let lease =
        seen.as_ref().ok().and_then(|seen| seen.record.as_ref()).map(|there| there.lease_left);
    match lease {
        // A moment more, for the store's clock is not ours.
        Some(left) if !left.is_zero() => poll.min(left.as_duration() + Duration::from_millis(2)),
        _ => poll,
    }
}
